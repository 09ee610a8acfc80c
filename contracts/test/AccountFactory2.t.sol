// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {Account2} from "../Account2.sol";
import {AccountFactory2} from "../AccountFactory2.sol";
import {AccountProxy} from "../account2/AccountProxy.sol";
import {Expect} from "./Expect.sol";
import {KeyHolder} from "./KeyHolder.sol";

contract AccountFactory2Test is Expect {
    uint256 private constant X = P256.GX;
    uint256 private constant Y = P256.GY;

    AccountFactory2 private immutable _factory = new AccountFactory2(IEntryPoint(address(this)));

    constructor() payable {}

    function test_an_account_is_created_where_getAddress_says_and_holds_its_key() external {
        address predicted = _factory.getAddress(X, Y, 7);
        expect(predicted.code.length == 0, "code before the creation");
        expect(_factory.createAccount(X, Y, 7) == predicted, "another address");
        (uint256 x, uint256 y) = Account2(payable(predicted)).getOwner();
        expect(x == X && y == Y, "another key");
        expect(address(Account2(payable(predicted)).entryPoint()) == address(this), "another EntryPoint");
        expect(Account2(payable(predicted)).version() == 2, "another version");
    }

    function test_the_code_ends_in_key_and_salt_and_has_the_size_that_the_account_looks_for() external {
        bytes memory code = _factory.createAccount(X, Y, 7).code;
        expect(code.length == AccountProxy.SIZE, "another size");
        (uint256 x, uint256 y, uint256 salt) = abi.decode(_last(code, 96), (uint256, uint256, uint256));
        expect(x == X && y == Y && salt == 7, "another end");
        bytes memory creation = AccountProxy.creationCode(_factory.implementation(), X, Y, 7);
        expect(keccak256(_last(creation, code.length)) == keccak256(code), "the code is not the end of its creation code");
    }

    function test_a_second_creation_returns_the_account_that_is_there() external {
        address account = _factory.createAccount(X, Y, 0);
        bytes32 code = account.codehash;
        expect(_factory.createAccount(X, Y, 0) == account, "another account");
        expect(account.codehash == code, "other code");
    }

    function test_a_stranger_who_is_first_creates_the_same_account() external {
        KeyHolder stranger = new KeyHolder(1, 2);
        address predicted = _factory.getAddress(X, Y, 0);
        bytes memory creation = abi.encodeCall(AccountFactory2.createAccount, (X, Y, 0));
        expect(abi.decode(stranger.forward(address(_factory), creation), (address)) == predicted, "another address");
        (uint256 x, uint256 y) = Account2(payable(predicted)).getOwner();
        expect(x == X && y == Y, "another key");
        expect(_factory.createAccount(X, Y, 0) == predicted, "refused afterwards");
    }

    function test_key_and_salt_each_change_the_address() external view {
        address account = _factory.getAddress(X, Y, 0);
        expect(_factory.getAddress(X, Y, 1) != account, "salt");
        expect(_factory.getAddress(X, P256.P - Y, 0) != account, "y");
        expect(_factory.getAddress(Y, X, 0) != account, "order");
    }

    function test_what_is_no_point_of_the_curve_is_refused() external {
        uint256[2][6] memory keys = [[uint256(0), 0], [X, Y + 1], [X, 0], [P256.P + 1, Y], [X, P256.P + 1], [P256.P, Y]];
        for (uint256 i = 0; i < keys.length; ++i) {
            (uint256 x, uint256 y) = (keys[i][0], keys[i][1]);
            bytes memory reason = abi.encodeWithSelector(AccountFactory2.InvalidPublicKey.selector, x, y);
            expectRevert(address(_factory), abi.encodeCall(AccountFactory2.createAccount, (x, y, 0)), reason);
        }
    }

    function test_the_implementation_has_no_key() external view {
        Account2 implementation = Account2(payable(_factory.implementation()));
        (uint256 x, uint256 y) = implementation.getOwner();
        expect(x == 0 && y == 0, "a key");
        expect(implementation.getKeys().length == 0 && !implementation.isKey(0, 0), "keys");
    }

    function test_ether_that_comes_with_2300_gas_stays() external {
        address account = _factory.createAccount(X, Y, 0);
        (bool sent,) = account.call{value: 3, gas: 0}("");
        expect(sent && account.balance == 3, "refused");
    }

    function _last(bytes memory all, uint256 length) private pure returns (bytes memory end) {
        end = new bytes(length);
        for (uint256 i = 0; i < length; ++i) end[i] = all[all.length - length + i];
    }
}
