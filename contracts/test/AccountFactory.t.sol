// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {AccountFactory} from "../AccountFactory.sol";
import {FactoryTests} from "./FactoryTests.sol";

contract AccountFactoryTest is FactoryTests(address(new AccountFactory(IEntryPoint(address(this))))) {}
