// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";

/// @title Which P-256 key speaks for an account
/// @notice Of an account with code the account itself says so. Of one without code its address does: it is the CREATE2
/// address (EIP-1014) of code that ends in x ‖ y ‖ salt. No list of factories is needed, since only the true code hashes
/// to the address.
library ControllerKeys {
    /// @dev So that an account cannot burn what a registrar pays. An account with many keys answers for half of it.
    uint256 private constant ASK_GAS = 300_000;

    error InitCodeTooShort(uint256 length);

    /// @dev The key in creation code, and the address where a factory creates an account by it.
    struct Created {
        uint256 x;
        uint256 y;
        address account;
    }

    function read(address factory, bytes calldata initCode) internal pure returns (Created memory created) {
        if (initCode.length < 96) revert InitCodeTooShort(initCode.length);
        uint256 salt;
        (created.x, created.y, salt) = abi.decode(initCode[initCode.length - 96:], (uint256, uint256, uint256));
        created.account = Create2.computeAddress(bytes32(salt), keccak256(initCode), factory);
    }

    /// @notice Whether an account with code names (x, y) as its key: by `isKey` (second kind), else by `getOwner` (first).
    function isKey(address account, uint256 x, uint256 y) internal view returns (bool) {
        (bool answered, uint256 first,) = _ask(account, abi.encodeWithSignature("isKey(uint256,uint256)", x, y), 0x20);
        if (answered) return first == 1;
        uint256 second;
        (answered, first, second) = _ask(account, abi.encodeWithSignature("getOwner()"), 0x40);
        return answered && first == x && second == y && (x != 0 || y != 0);
    }

    /// @dev Two words of an answer of exactly `size` bytes; `answered` is false for a call that fails or answers otherwise.
    function _ask(address account, bytes memory data, uint256 size)
        private
        view
        returns (bool answered, uint256 first, uint256 second)
    {
        assembly ("memory-safe") {
            let done := staticcall(ASK_GAS, account, add(data, 0x20), mload(data), 0x00, 0x40)
            answered := and(done, eq(returndatasize(), size))
            if answered {
                first := mload(0x00)
                second := mload(0x20)
            }
        }
    }
}
