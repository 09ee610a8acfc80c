// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title For tests: an implementation of ERC-1822 for proxies of another kind
contract WrongSlot {
    function proxiableUUID() external pure returns (bytes32) {
        return keccak256("another slot");
    }
}
