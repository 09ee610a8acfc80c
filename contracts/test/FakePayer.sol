// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";

/// @title For tests: an account of nobody that says it paid. It takes every operation from every EntryPoint, and its
/// `execute` moves nothing. It is also an implementation that a second account can be upgraded to.
contract FakePayer {
    bytes32 private constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    receive() external payable {}

    function validateUserOp(PackedUserOperation calldata, bytes32, uint256) external pure returns (uint256) {
        return 0;
    }

    function execute(address, uint256, bytes calldata) external {}

    /// @notice Vouches for everything (ERC-1271).
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return this.isValidSignature.selector;
    }

    /// @notice What `execute` of an account that pays would do.
    function perform(address target, uint256 value, bytes calldata data) public {
        (bool done,) = target.call{value: value}(data);
        require(done);
    }

    /// @notice Several of them.
    function performAll(address[] calldata targets, bytes[] calldata data) external {
        for (uint256 i = 0; i < targets.length; ++i) perform(targets[i], 0, data[i]);
    }

    function proxiableUUID() external pure returns (bytes32) {
        return SLOT;
    }

    /// @notice Puts another implementation into the slot without a word.
    function restore(address implementation) external {
        assembly ("memory-safe") {
            sstore(SLOT, implementation)
        }
    }
}
