// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {Expect} from "./Expect.sol";
import {KeyHolder} from "./KeyHolder.sol";

/// @notice What the factories of both kinds of accounts have in common.
interface Factory {
    error InvalidPublicKey(uint256 x, uint256 y);

    function createAccount(uint256 x, uint256 y, uint256 salt) external returns (address);
    function getAddress(uint256 x, uint256 y, uint256 salt) external view returns (address);
    function implementation() external view returns (address);
}

/// @title What is tested of either factory
abstract contract FactoryTests is Expect {
    uint256 internal constant X = P256.GX;
    uint256 internal constant Y = P256.GY;

    Factory internal immutable _factory;

    constructor(address factory) {
        _factory = Factory(factory);
    }

    function test_an_account_is_created_where_getAddress_says_and_holds_its_key() external {
        address predicted = _factory.getAddress(X, Y, 7);
        expect(predicted.code.length == 0, "code before the creation");
        expect(_factory.createAccount(X, Y, 7) == predicted, "another address");
        expectKey(predicted, X, Y);
        (, bytes memory entryPoint) = predicted.staticcall(abi.encodeWithSignature("entryPoint()"));
        expect(abi.decode(entryPoint, (address)) == address(this), "another EntryPoint");
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
        bytes memory creation = abi.encodeCall(Factory.createAccount, (X, Y, 0));
        expect(abi.decode(stranger.forward(address(_factory), creation), (address)) == predicted, "another address");
        expectKey(predicted, X, Y);
        expect(_factory.createAccount(X, Y, 0) == predicted, "refused afterwards");
    }

    function test_key_and_salt_each_change_the_address() external view {
        address account = _factory.getAddress(X, Y, 0);
        expect(_factory.getAddress(X, Y, 1) != account, "salt");
        expect(_factory.getAddress(X, P256.P - Y, 0) != account, "y");
        expect(_factory.getAddress(Y, X, 0) != account, "order");
    }

    function test_what_is_no_point_of_the_curve_is_refused() external {
        _expectInvalid(0, 0);
        _expectInvalid(X, Y + 1);
        _expectInvalid(X, 0);
        _expectInvalid(P256.P + 1, Y);
        _expectInvalid(X, P256.P + 1);
        _expectInvalid(P256.P, Y);
        _expectInvalid(type(uint256).max, type(uint256).max);
    }

    function test_the_implementation_has_no_key() external view {
        expectKey(_factory.implementation(), 0, 0);
    }

    function expectKey(address account, uint256 x, uint256 y) internal view {
        (, bytes memory owner) = account.staticcall(abi.encodeWithSignature("getOwner()"));
        (uint256 foundX, uint256 foundY) = abi.decode(owner, (uint256, uint256));
        expect(foundX == x && foundY == y, "another key");
    }

    function _expectInvalid(uint256 x, uint256 y) private {
        bytes memory reason = abi.encodeWithSelector(Factory.InvalidPublicKey.selector, x, y);
        expectRevert(address(_factory), abi.encodeCall(Factory.createAccount, (x, y, 0)), reason);
    }
}
