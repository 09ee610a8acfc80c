// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";

/// @title What the registry asks of accounts
interface IKeys {
    function isKey(uint256 x, uint256 y) external view returns (bool);
    function getOwner() external view returns (uint256 x, uint256 y);
}

/// @title Which P-256 key speaks for an account
/// @notice Of an account with code the account itself says so. Of one without code its address does: it is the CREATE2
/// address (EIP-1014) of code that ends in x ‖ y ‖ salt. No list of factories is needed, since only the true code hashes
/// to the address.
library ControllerKeys {
    /// @dev For all questions together, so that an account cannot burn what a registrar pays. An account of 32 keys takes
    /// half of it for the first answer, and little for the second.
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
    /// What calls (0, 0) a key too answers 1 to anything, and names none.
    function isKey(address account, uint256 x, uint256 y) internal view returns (bool) {
        uint256 end = gasleft() > ASK_GAS ? gasleft() - ASK_GAS : 0;
        (bool answered, uint256 first,) = _ask(account, end, abi.encodeCall(IKeys.isKey, (x, y)), 0x20);
        uint256 second;
        if (answered) {
            if (first != 1) return false;
            (answered, second,) = _ask(account, end, abi.encodeCall(IKeys.isKey, (0, 0)), 0x20);
            return answered && second == 0;
        }
        (answered, first, second) = _ask(account, end, abi.encodeCall(IKeys.getOwner, ()), 0x40);
        return answered && first == x && second == y && (x != 0 || y != 0);
    }

    /// @dev Two words of an answer of exactly `size` bytes, for the gas that is left above `end`; `answered` is false for a
    /// call that fails or answers otherwise.
    function _ask(address account, uint256 end, bytes memory data, uint256 size)
        private
        view
        returns (bool answered, uint256 first, uint256 second)
    {
        assembly ("memory-safe") {
            let left := gas()
            let done := staticcall(mul(gt(left, end), sub(left, end)), account, add(data, 0x20), mload(data), 0x00, 0x40)
            answered := and(done, eq(returndatasize(), size))
            if answered {
                first := mload(0x00)
                second := mload(0x20)
            }
        }
    }
}
