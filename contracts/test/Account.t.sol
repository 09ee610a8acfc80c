// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Account as ERC4337Account} from "@openzeppelin/contracts/account/Account.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {IERC1155Receiver} from "@openzeppelin/contracts/token/ERC1155/IERC1155Receiver.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {Account} from "../Account.sol";
import {AccountFactory} from "../AccountFactory.sol";
import {Expect} from "./Expect.sol";
import {KeyHolder} from "./KeyHolder.sol";

/// @notice Plays the EntryPoint. What needs a passkey's signature is in `tests/contracts/account.test.ts`.
contract AccountTest is Expect {
    error Refused(uint256 number);

    AccountFactory private immutable _factory = new AccountFactory(IEntryPoint(address(this)));
    Account private immutable _account = Account(payable(_factory.createAccount(P256.GX, P256.GY, 0)));
    uint256 private _number;

    receive() external payable {}

    constructor() payable {}

    function setNumber(uint256 number) external payable {
        expect(msg.sender == address(_account), "called by another");
        if (number == 0) revert Refused(number);
        _number = number;
    }

    function getNonce(address sender, uint192 key) external view returns (uint256) {
        return sender == address(_account) ? 100 + key : 0;
    }

    function test_execute_calls_as_the_account() external {
        _account.execute(address(this), 0, abi.encodeCall(this.setNumber, (7)));
        expect(_number == 7, "not called");
    }

    function test_execute_reverts_with_the_targets_own_reason() external {
        bytes memory call = abi.encodeCall(Account.execute, (address(this), 0, abi.encodeCall(this.setNumber, (0))));
        expectRevert(address(_account), call, abi.encodeWithSelector(Refused.selector, 0));
    }

    function test_execute_to_an_address_without_code_is_a_plain_call() external {
        _account.execute(address(0xdead), 0, "");
    }

    function test_a_batch_is_made_in_order() external {
        _account.executeBatch(_batch(1, 2));
        expect(_number == 2, "another order");
        _account.executeBatch(new Account.Call[](0));
    }

    function test_a_batch_is_all_or_none() external {
        bytes memory call = abi.encodeCall(Account.executeBatch, (_batch(1, 0)));
        expectRevert(address(_account), call, abi.encodeWithSelector(Refused.selector, 0));
        expect(_number == 0, "the first call stayed");
    }

    function test_nobody_but_the_EntryPoint_executes_or_validates() external {
        KeyHolder stranger = new KeyHolder(P256.GX, P256.GY);
        bytes memory refusal =
            abi.encodeWithSelector(ERC4337Account.AccountUnauthorized.selector, address(stranger));
        PackedUserOperation memory operation;
        bytes[3] memory calls = [
            abi.encodeCall(Account.execute, (address(this), 0, "")),
            abi.encodeCall(Account.executeBatch, (_batch(1, 2))),
            abi.encodeCall(ERC4337Account.validateUserOp, (operation, 0, 0))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            expectRevert(address(stranger), abi.encodeCall(KeyHolder.forward, (address(_account), calls[i])), refusal);
        }
    }

    function test_the_account_cannot_call_its_own_execute() external {
        bytes memory inner = abi.encodeCall(Account.execute, (address(this), 0, ""));
        bytes memory refusal =
            abi.encodeWithSelector(ERC4337Account.AccountUnauthorized.selector, address(_account));
        expectRevert(address(_account), abi.encodeCall(Account.execute, (address(_account), 0, inner)), refusal);
    }

    function test_a_signature_that_is_none_is_answered_and_never_reverts() external {
        bytes[5] memory signatures = [bytes(""), hex"00", new bytes(192), new bytes(1024), _pointingOutside()];
        PackedUserOperation memory operation;
        for (uint256 i = 0; i < signatures.length; ++i) {
            operation.signature = signatures[i];
            expect(_account.validateUserOp(operation, keccak256("operation"), 0) == 1, "validateUserOp");
            bytes4 answer = _account.isValidSignature(keccak256("message"), signatures[i]);
            expect(answer == 0xffffffff, "isValidSignature");
        }
    }

    function test_the_implementation_validates_nothing() external {
        Account implementation = Account(payable(_factory.implementation()));
        PackedUserOperation memory operation;
        expect(implementation.validateUserOp(operation, keccak256("operation"), 0) == 1, "validated");
    }

    function test_validation_pays_the_EntryPoint_what_is_missing() external {
        uint256 balance = address(this).balance;
        (bool sent,) = address(_account).call{value: 3}("");
        PackedUserOperation memory operation;
        _account.validateUserOp(operation, 0, 2);
        expect(sent && address(this).balance == balance - 1, "another amount");
        expect(address(_account).balance == 1, "another rest");
    }

    function test_ether_comes_in_and_goes_out() external {
        (bool sent,) = address(_account).call{value: 5}("");
        _account.execute(address(0xbeef), 4, "");
        _account.execute(address(this), 1, abi.encodeCall(this.setNumber, (1)));
        expect(sent && address(0xbeef).balance == 4 && address(_account).balance == 0, "another balance");
    }

    function test_tokens_that_ask_are_received() external {
        Collectible collectible = new Collectible();
        Multiple multiple = new Multiple();
        collectible.mint(address(_account), 1);
        multiple.mint(address(_account), 1);
        expect(collectible.ownerOf(1) == address(_account), "ERC-721");
        expect(multiple.balanceOf(address(_account), 1) == 2, "ERC-1155");
        expect(_account.supportsInterface(type(IERC1155Receiver).interfaceId), "ERC-165");
    }

    function test_the_nonce_is_the_EntryPoints() external view {
        expect(_account.getNonce() == 100 && _account.getNonce(3) == 103, "another nonce");
    }

    function test_what_is_signed_for_a_message_names_the_account() external {
        Account other = Account(payable(_factory.createAccount(P256.GX, P256.GY, 1)));
        bytes32 message = keccak256("message");
        expect(_account.replaySafeHash(message) != other.replaySafeHash(message), "the same for both");
        expect(_account.replaySafeHash(message) != message, "the message itself");
    }

    function _batch(uint256 first, uint256 second) private view returns (Account.Call[] memory calls) {
        calls = new Account.Call[](2);
        calls[0] = Account.Call(address(this), 0, abi.encodeCall(this.setNumber, (first)));
        calls[1] = Account.Call(address(this), 0, abi.encodeCall(this.setNumber, (second)));
    }

    /// @dev An assertion's head whose dynamic parts would be far behind its end.
    function _pointingOutside() private pure returns (bytes memory) {
        return abi.encode(uint256(1), 1, 1, 1, type(uint256).max, type(uint128).max);
    }
}

contract Collectible is ERC721("", "") {
    function mint(address to, uint256 id) external {
        _safeMint(to, id);
    }
}

contract Multiple is ERC1155("") {
    function mint(address to, uint256 id) external {
        _mint(to, id, 1, "");
        uint256[] memory ids = new uint256[](1);
        ids[0] = id;
        _mintBatch(to, ids, ids, "");
    }
}
