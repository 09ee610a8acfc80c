// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {Account2} from "../Account2.sol";

/// @title For tests: what owners upgrade to
contract Account3 is Account2 {
    constructor(IEntryPoint trusted) Account2(trusted) {}

    function version() external pure override returns (uint256) {
        return 3;
    }
}
