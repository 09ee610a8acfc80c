// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {Account2} from "../Account2.sol";
import {AccountFactory2} from "../AccountFactory2.sol";
import {AccountProxy} from "../account2/AccountProxy.sol";
import {FactoryTests} from "./FactoryTests.sol";

contract AccountFactory2Test is FactoryTests {
    constructor() payable FactoryTests(address(new AccountFactory2(IEntryPoint(address(this))))) {}

    function test_an_account_is_of_version_2_and_the_implementation_lists_no_keys() external {
        expect(Account2(payable(_factory.createAccount(X, Y, 0))).version() == 2, "another version");
        Account2 implementation = Account2(payable(_factory.implementation()));
        expect(implementation.getKeys().length == 0 && !implementation.isKey(0, 0), "keys");
    }

    function test_the_code_ends_in_key_and_salt_and_has_the_size_that_the_account_looks_for() external {
        bytes memory code = _factory.createAccount(X, Y, 7).code;
        expect(code.length == AccountProxy.SIZE, "another size");
        (uint256 x, uint256 y, uint256 salt) = abi.decode(_last(code, 96), (uint256, uint256, uint256));
        expect(x == X && y == Y && salt == 7, "another end");
        bytes memory creation = AccountProxy.creationCode(_factory.implementation(), X, Y, 7);
        expect(keccak256(_last(creation, code.length)) == keccak256(code), "the code is not the end of its creation code");
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
