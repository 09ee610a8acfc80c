// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title For tests: a contract that controls a DID and shows a known P-256 key, as an account does
contract KeyHolder {
    uint256 private immutable _x;
    uint256 private immutable _y;

    constructor(uint256 x, uint256 y) {
        _x = x;
        _y = y;
    }

    function getOwner() external view returns (uint256 x, uint256 y) {
        return (_x, _y);
    }

    /// @notice Vouches for everything (ERC-1271).
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return this.isValidSignature.selector;
    }

    /// @notice Calls `to` for anyone, as this contract; reverts with the called contract's reason.
    function forward(address to, bytes calldata data) external returns (bytes memory result) {
        bool done;
        (done, result) = to.call(data);
        if (!done) {
            assembly ("memory-safe") {
                revert(add(result, 32), mload(result))
            }
        }
    }
}
