// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title What a contract of tests is made of
/// @notice `tests/contracts/solidity.test.ts` deploys each `*.t.sol` and calls each of its functions whose name begins with
/// `test`, in a state of its own; a revert is a failure.
abstract contract Expect {
    error Unexpected(string what);
    error UnexpectedOutcome(bool succeeded, bytes data);

    function expect(bool holds, string memory what) internal pure {
        if (!holds) revert Unexpected(what);
    }

    /// @notice That a call reverts with exactly this reason.
    function expectRevert(address target, bytes memory data, bytes memory reason) internal {
        (bool succeeded, bytes memory answer) = target.call(data);
        if (succeeded || keccak256(answer) != keccak256(reason)) revert UnexpectedOutcome(succeeded, answer);
    }
}
