// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {Account} from "../Account.sol";
import {Account2} from "../Account2.sol";
import {AccountFactory} from "../AccountFactory.sol";
import {AccountFactory2} from "../AccountFactory2.sol";
import {AccountHelper} from "../AccountHelper.sol";
import {DIDRegistry} from "../DIDRegistry.sol";
import {Expect} from "./Expect.sol";

/// @notice Plays the EntryPoint and the registrar.
contract AccountHelperTest is Expect {
    bytes32 private constant DID = keccak256("did:example:alice");

    DIDRegistry private immutable _registry = new DIDRegistry(address(this), address(this));
    AccountHelper private immutable _helper = new AccountHelper(_registry);
    AccountFactory private immutable _factory = new AccountFactory(IEntryPoint(address(this)));
    Account2 private immutable _behind;

    /// @dev A passkey whose index is after those of 23 addresses, which `getOwner` reads first. Made here, so that a test
    /// reads it from cold storage, as a node does.
    constructor() {
        AccountFactory2 factory = new AccountFactory2(IEntryPoint(address(this)));
        _behind = Account2(payable(factory.createAccount(P256.GX, P256.GY, 0)));
        for (uint256 i = 1; i < 24; ++i) _behind.addKey(i, 0, "");
        _behind.removeKey(0, P256.GX, P256.GY);
        _behind.addKey(P256.GX, P256.P - P256.GY, "");
    }

    function getNonce(address, uint192) external pure returns (uint256) {
        return 5;
    }

    function test_an_account_with_an_active_DID() external {
        address account = _factory.createAccount(P256.GX, P256.GY, 0);
        _registry.registerFor(account, DID, 0, "");
        _expectState(account, 5, DID, true, P256.GX, P256.GY);
    }

    function test_the_passkey_of_an_account_with_every_address_that_owners_may_add() external view {
        _expectState(address(_behind), 5, 0, false, P256.GX, P256.P - P256.GY);
    }

    function test_an_account_whose_DID_was_deactivated_still_shows_it() external {
        Account account = Account(payable(_factory.createAccount(P256.GX, P256.GY, 0)));
        _registry.registerFor(address(account), DID, 0, "");
        account.execute(address(_registry), 0, abi.encodeCall(DIDRegistry.deactivate, (DID)));
        _expectState(address(account), 5, DID, false, P256.GX, P256.GY);
    }

    function test_an_account_without_a_DID() external {
        _expectState(_factory.createAccount(P256.GX, P256.GY, 0), 5, 0, false, P256.GX, P256.GY);
    }

    function test_an_address_without_code_is_all_zero_even_where_a_DID_is_registered_for_it() external {
        address account = _factory.getAddress(P256.GX, P256.GY, 0);
        _registry.registerFor(account, DID, 0, "");
        _expectState(account, 0, 0, false, 0, 0);
        _expectState(address(0), 0, 0, false, 0, 0);
        _expectState(address(1), 0, 0, false, 0, 0);
        _expectState(address(0x100), 0, 0, false, 0, 0);
    }

    function test_code_that_is_no_account_is_zero_where_it_does_not_answer() external {
        _registry.registerFor(address(_registry), DID, 0, "");
        _expectState(address(_registry), 0, DID, true, 0, 0);
        _expectState(address(new Reverting()), 0, 0, false, 0, 0);
        _expectState(address(new Burning()), 0, 0, false, 0, 0);
        _expectState(address(new Writing()), 0, 0, false, 0, 0);
        _expectState(address(new Terse()), 0, 0, false, 0, 0);
    }

    function test_of_an_answer_of_any_length_only_its_words_are_taken() external {
        _expectState(address(new Verbose()), 1, 0, false, 1, 1);
    }

    function _expectState(address account, uint256 nonce, bytes32 did, bool isActive, uint256 x, uint256 y)
        private
        view
    {
        (uint256 foundNonce, bytes32 foundDid, bool foundActive, uint256[2] memory key) =
            _helper.getAccountState(account);
        expect(foundNonce == nonce, "nonce");
        expect(foundDid == did, "did");
        expect(foundActive == isActive, "isActive");
        expect(key[0] == x && key[1] == y, "pubKey");
    }
}

contract Reverting {
    fallback() external {
        revert("no");
    }
}

contract Burning {
    fallback() external {
        while (true) {}
    }
}

contract Writing {
    uint256 private _calls;

    fallback(bytes calldata) external returns (bytes memory) {
        return abi.encode(++_calls, 1);
    }
}

/// @notice Answers one byte less than asked for.
contract Terse {
    fallback(bytes calldata data) external returns (bytes memory) {
        return new bytes(bytes4(data) == Account.getOwner.selector ? 63 : 31);
    }
}

contract Verbose {
    fallback() external {
        assembly {
            for { let i := 0 } lt(i, 0x100) { i := add(i, 0x20) } { mstore(i, 1) }
            return(0, 0x8000)
        }
    }
}
