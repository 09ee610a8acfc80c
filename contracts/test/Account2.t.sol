// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Account as ERC4337Account} from "@openzeppelin/contracts/account/Account.sol";
import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {Account2} from "../Account2.sol";
import {AccountFactory2} from "../AccountFactory2.sol";
import {AccountKeys} from "../account2/AccountKeys.sol";
import {AccountRecovery} from "../account2/AccountRecovery.sol";
import {Expect} from "./Expect.sol";
import {KeyHolder} from "./KeyHolder.sol";

/// @notice Plays the EntryPoint. What needs signatures or time is in `tests/contracts/account2/`.
contract Account2Test is Expect {
    uint256 private constant X = P256.GX;
    uint256 private constant Y = P256.GY;
    /// @dev The generator's negative: a point whose private key is known too.
    uint256 private constant OTHER_Y = P256.P - P256.GY;
    uint256 private constant WALLET = 0xa11ce;

    AccountFactory2 private immutable _factory = new AccountFactory2(IEntryPoint(address(this)));
    Account2 private immutable _account = Account2(payable(_factory.createAccount(X, Y, 0)));
    uint256 private _number;

    constructor() payable {}

    receive() external payable {}

    function setNumber(uint256 number) external payable {
        expect(msg.sender == address(_account), "called by another");
        _number = number;
    }

    function test_a_new_account_has_one_key() external view {
        AccountKeys.Key[] memory keys = _account.getKeys();
        expect(keys.length == 1 && keys[0].index == 0 && keys[0].x == X && keys[0].y == Y, "another key");
        expect(keys[0].addedAt == 0 && keys[0].label == 0, "something stored");
        expect(_account.isKey(X, Y) && !_account.isKey(X, OTHER_Y) && !_account.isKey(0, 0), "isKey");
    }

    function test_keys_are_added_named_and_removed_and_their_indices_used_again() external {
        _account.addKey(X, OTHER_Y, "second");
        _account.addKey(WALLET, 0, "wallet");
        _account.nameKey(1, "phone");
        AccountKeys.Key[] memory keys = _account.getKeys();
        expect(keys.length == 3 && keys[1].index == 1 && keys[1].y == OTHER_Y && keys[1].label == "phone", "second");
        expect(keys[2].index == 2 && keys[2].x == WALLET && keys[2].y == 0 && keys[2].label == "wallet", "third");
        expect(keys[1].addedAt == block.timestamp, "another time");
        _account.removeKey(1, X, OTHER_Y);
        expect(!_account.isKey(X, OTHER_Y) && _account.isKey(WALLET, 0), "isKey");
        _account.addKey(WALLET + 1, 0, "");
        expect(_account.getKeys()[1].x == WALLET + 1 && _account.getKeys()[1].label == 0, "not index 1");
    }

    function test_the_first_key_is_removed_and_comes_back_to_index_0_alone() external {
        _account.addKey(WALLET, 0, "");
        _account.removeKey(0, X, Y);
        (uint256 x, uint256 y) = _account.getOwner();
        expect(x == 0 && y == 0 && !_account.isKey(X, Y), "still there");
        _account.addKey(X, OTHER_Y, "");
        (x, y) = _account.getOwner();
        expect(x == X && y == OTHER_Y && _account.getKeys()[1].index == 2, "another place");
        _account.addKey(X, Y, "back");
        expect(_account.getKeys()[0].index == 0 && _account.getKeys()[0].label == "back", "not at index 0");
    }

    function test_the_last_key_stays() external {
        _expectRefusal(abi.encodeCall(Account2.removeKey, (0, X, Y)), AccountKeys.LastKey.selector);
        _account.addKey(WALLET, 0, "");
        _account.removeKey(0, X, Y);
        _expectRefusal(abi.encodeCall(Account2.removeKey, (1, WALLET, 0)), AccountKeys.LastKey.selector);
    }

    function test_a_key_is_removed_by_its_index_and_itself() external {
        _account.addKey(WALLET, 0, "");
        bytes4 reason = AccountKeys.NoSuchKey.selector;
        _expectRefusal(abi.encodeCall(Account2.removeKey, (0, WALLET, 0)), reason);
        _expectRefusal(abi.encodeCall(Account2.removeKey, (1, WALLET, 1)), reason);
        _expectRefusal(abi.encodeCall(Account2.removeKey, (2, 0, 0)), reason);
        _expectRefusal(abi.encodeCall(Account2.removeKey, (32, 0, 0)), reason);
        _expectRefusal(abi.encodeCall(Account2.removeKey, (255, X, Y)), reason);
        _expectRefusal(abi.encodeCall(Account2.nameKey, (2, "")), reason);
        _expectRefusal(abi.encodeCall(Account2.nameKey, (255, "")), reason);
    }

    function test_what_is_no_key_or_is_one_is_not_added() external {
        bytes4 invalid = AccountKeys.InvalidKey.selector;
        _expectRefusal(abi.encodeCall(Account2.addKey, (0, 0, "")), invalid);
        _expectRefusal(abi.encodeCall(Account2.addKey, (X, Y + 1, "")), invalid);
        _expectRefusal(abi.encodeCall(Account2.addKey, (P256.P, Y, "")), invalid);
        _expectRefusal(abi.encodeCall(Account2.addKey, (uint256(type(uint160).max) + 1, 0, "")), invalid);
        _expectRefusal(abi.encodeCall(Account2.addKey, (uint160(address(_account)), 0, "")), invalid);
        _expectRefusal(abi.encodeCall(Account2.addKey, (X, Y, "")), AccountKeys.KeyIsOwner.selector);
    }

    function test_owners_add_up_to_24_keys() external {
        for (uint256 i = 1; i < 24; ++i) _account.addKey(WALLET + i, 0, "");
        expect(_account.getKeys().length == 24, "another number");
        _expectRefusal(abi.encodeCall(Account2.addKey, (WALLET, 0, "")), AccountKeys.TooManyKeys.selector);
        _account.removeKey(7, WALLET + 7, 0);
        _account.addKey(WALLET, 0, "");
        expect(_account.getKeys()[7].x == WALLET, "not index 7");
    }

    function test_strangers_do_nothing() external {
        KeyHolder stranger = new KeyHolder(X, Y);
        PackedUserOperation memory operation;
        bytes memory refusal = abi.encodeWithSelector(ERC4337Account.AccountUnauthorized.selector, address(stranger));
        bytes[11] memory calls = [
            abi.encodeWithSignature("execute(address,uint256,bytes)", address(this), 0, ""),
            abi.encodeCall(Account2.executeBatch, (_batch())),
            abi.encodeWithSignature("execute(bytes32,bytes)", bytes32(bytes1(0x01)), abi.encode(_batch())),
            abi.encodeCall(ERC4337Account.validateUserOp, (operation, 0, 0)),
            abi.encodeCall(Account2.addKey, (WALLET, 0, "")),
            abi.encodeCall(Account2.removeKey, (0, X, Y)),
            abi.encodeCall(Account2.nameKey, (0, "")),
            abi.encodeCall(Account2.setGuardian, (address(stranger), 3 days, 0)),
            abi.encodeCall(Account2.setGuardian, (address(0), 0, 0)),
            abi.encodeCall(Account2.cancelRecovery, ()),
            abi.encodeCall(UUPSUpgradeable.upgradeToAndCall, (address(this), ""))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            expectRevert(address(stranger), abi.encodeCall(KeyHolder.forward, (address(_account), calls[i])), refusal);
            address implementation = _factory.implementation();
            expectRevert(address(stranger), abi.encodeCall(KeyHolder.forward, (implementation, calls[i])), refusal);
        }
    }

    function test_batches_in_both_forms_are_made_in_order_and_by_the_account_itself_too() external {
        bytes32 mode = bytes32(bytes1(0x01));
        expect(_account.supportsExecutionMode(mode) && !_account.supportsExecutionMode(0), "another mode");
        _account.executeBatch(_batch());
        expect(_number == 2, "executeBatch");
        _number = 0;
        _account.execute(mode, abi.encode(_batch()));
        expect(_number == 2, "execute");
        _account.execute(address(_account), 0, abi.encodeCall(Account2.addKey, (WALLET, 0, "")));
        expect(_account.isKey(WALLET, 0), "not by itself");
    }

    function test_what_the_account_calls_cannot_call_back_as_an_owner() external {
        Caller caller = new Caller();
        bytes memory own = abi.encodeCall(Account2.addKey, (WALLET, 0, ""));
        bytes memory through = abi.encodeWithSignature("execute(address,uint256,bytes)", address(_account), 0, own);
        bytes[2] memory calls = [own, through];
        for (uint256 i = 0; i < calls.length; ++i) {
            _account.execute(address(caller), 0, abi.encodeCall(Caller.callBack, (calls[i])));
            bytes4 reason = ERC4337Account.AccountUnauthorized.selector;
            expect(caller.reason() == reason && !_account.isKey(WALLET, 0), "called back");
        }
    }

    function test_who_is_no_guardian() external {
        bytes4 reason = AccountRecovery.InvalidGuardian.selector;
        _expectRefusal(abi.encodeCall(Account2.setGuardian, (address(_account), 3 days, 0)), reason);
        reason = AccountRecovery.InvalidDelay.selector;
        _expectRefusal(abi.encodeCall(Account2.setGuardian, (address(1), 3 days - 1, 0)), reason);
        _expectRefusal(abi.encodeCall(Account2.setGuardian, (address(1), 365 days + 1, 0)), reason);
        reason = AccountRecovery.NotGuardian.selector;
        _expectRefusal(abi.encodeCall(AccountRecovery.proposeRecovery, (X, OTHER_Y, "", 0)), reason);
    }

    function test_a_guardian_proposes_and_withdraws() external {
        KeyHolder guardian = new KeyHolder(1, 2);
        _account.setGuardian(address(guardian), 3 days, "commitment");
        bytes memory proposal = abi.encodeCall(AccountRecovery.proposeRecovery, (X, OTHER_Y, "new", "commitment"));
        bytes memory answer = guardian.forward(address(_account), proposal);
        expect(abi.decode(answer, (uint32)) == 1, "another id");
        (uint32 id, uint256 x, uint256 y, uint40 readyAt, bytes32 label) = _account.getRecovery();
        expect(id == 1 && x == X && y == OTHER_Y && readyAt == block.timestamp + 3 days && label == "new", "another");
        expect(!_account.isKey(X, OTHER_Y), "a key already");
        bytes memory reason = abi.encodeWithSelector(AccountRecovery.RecoveryNotReady.selector, readyAt);
        expectRevert(address(_account), abi.encodeCall(AccountRecovery.finishRecovery, ()), reason);
        guardian.forward(address(_account), abi.encodeCall(Account2.cancelRecovery, ()));
        (id,,,,) = _account.getRecovery();
        expect(id == 0, "still pending");
        expect(abi.decode(guardian.forward(address(_account), proposal), (uint32)) == 2, "an id twice");
    }

    function test_two_cancellations_by_owners_bar_the_guardian_until_it_is_set_again() external {
        KeyHolder guardian = new KeyHolder(1, 2);
        _account.setGuardian(address(guardian), 3 days, 0);
        bytes memory proposal = abi.encodeCall(AccountRecovery.proposeRecovery, (X, OTHER_Y, "new", 0));
        for (uint256 i = 0; i < 2; ++i) {
            guardian.forward(address(_account), proposal);
            _account.cancelRecovery();
        }
        (,,, uint8 vetoes, uint40 barredUntil) = _account.getGuardian();
        expect(vetoes == 0 && barredUntil == block.timestamp + 30 days, "another bar");
        bytes memory call = abi.encodeCall(KeyHolder.forward, (address(_account), proposal));
        bytes memory reason = abi.encodeWithSelector(AccountRecovery.GuardianIsBarred.selector, barredUntil);
        expectRevert(address(guardian), call, reason);
        _account.setGuardian(address(guardian), 3 days, 0);
        guardian.forward(address(_account), proposal);
    }

    function test_a_signature_that_is_none_is_answered_and_never_reverts() external {
        bytes[7] memory signatures = [
            bytes(""), hex"00", hex"00000000000001", new bytes(200), new bytes(1024), hex"ff00000000000100", _outside()
        ];
        PackedUserOperation memory operation;
        for (uint256 i = 0; i < signatures.length; ++i) {
            operation.signature = signatures[i];
            expect(_account.validateUserOp(operation, keccak256("operation"), 0) == 1, "validateUserOp");
            expect(_account.isValidSignature(keccak256("message"), signatures[i]) == 0xffffffff, "isValidSignature");
            Account2 implementation = Account2(payable(_factory.implementation()));
            expect(implementation.validateUserOp(operation, keccak256("operation"), 0) == 1, "implementation");
        }
    }

    function _batch() private view returns (Account2.Call[] memory calls) {
        calls = new Account2.Call[](2);
        calls[0] = Account2.Call(address(this), 0, abi.encodeCall(this.setNumber, (1)));
        calls[1] = Account2.Call(address(this), 0, abi.encodeCall(this.setNumber, (2)));
    }

    /// @dev An assertion's head, behind index and end, whose dynamic parts would be far behind its own end.
    function _outside() private pure returns (bytes memory) {
        bytes memory head = abi.encode(uint256(1), 1, 1, 1, type(uint256).max, type(uint128).max);
        return abi.encodePacked(uint8(0), uint48(1), head);
    }

    function _expectRefusal(bytes memory call, bytes4 reason) private {
        expectRevert(address(_account), call, abi.encodeWithSelector(reason));
    }
}

/// @notice Calls its caller back.
contract Caller {
    bytes4 public reason;

    function callBack(bytes calldata data) external payable {
        (bool succeeded, bytes memory answer) = msg.sender.call(data);
        reason = succeeded ? bytes4(0) : bytes4(answer);
    }
}
