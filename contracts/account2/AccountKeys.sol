// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {AccountProxy} from "./AccountProxy.sol";

/// @title The keys of a second account
/// @notice A key is a point (x, y) of P-256, or an Ethereum address (x its number, y zero). Each has an index below 32,
/// which signatures name. Index 0 is the key in the proxy's code and of no other key; it lives without anything stored.
/// An index of a removed key is used again.
abstract contract AccountKeys {
    struct Key {
        uint8 index;
        uint256 x;
        uint256 y;
        uint40 addedAt;
        bytes32 label;
    }

    struct StoredKey {
        uint256 x;
        uint256 y;
        uint40 addedAt;
        bytes32 label;
    }

    /// @dev All that an account stores (ERC-7201). What validation reads is in the first slot.
    /// @custom:storage-location erc7201:vault.Account2
    struct AccountStorage {
        /// @dev Bit i is set where index i is not as in a new account: 0 was removed, another one holds a key.
        uint32 changed;
        uint32 recoveryId;
        uint40 readyAt;
        address guardian;
        uint32 delay;
        uint8 vetoes;
        uint40 barredUntil;
        bytes32 commitment;
        uint256 recoveryX;
        uint256 recoveryY;
        bytes32 recoveryLabel;
        mapping(uint256 index => StoredKey) keys;
    }

    /// @notice So many keys owners may add up to; a recovery may exceed it, up to all 32 indices.
    uint256 public constant KEYS_BY_OWNERS_MAX = 24;
    uint256 private constant INDICES = 32;
    /// @dev keccak256(abi.encode(uint256(keccak256("vault.Account2")) - 1)) & ~bytes32(uint256(0xff))
    bytes32 private constant STORAGE = 0xa5e7e83c8b17bf50325f38b82ad54840aea1521c06061e3fe5ee76f188fe9200;

    event KeyAdded(uint256 indexed x, uint256 y, uint8 index, bytes32 label);
    event KeyRemoved(uint256 indexed x, uint256 y, uint8 index);
    event KeyNamed(uint8 index, bytes32 label);

    error InvalidKey();
    error KeyIsOwner();
    error NoSuchKey();
    error LastKey();
    error TooManyKeys();

    /// @notice Whether this key signs for the account.
    function isKey(uint256 x, uint256 y) public view returns (bool) {
        uint256 live = _live();
        for (uint256 i = 0; live >> i != 0; ++i) {
            if (live >> i & 1 == 0) continue;
            (uint256 keyX, uint256 keyY) = _keyAt(i);
            if (keyX == x && keyY == y) return true;
        }
        return false;
    }

    /// @notice Every key, by index. `addedAt` is zero for the key that the account was created with.
    function getKeys() external view returns (Key[] memory keys) {
        uint256 live = _live();
        keys = new Key[](_count(live));
        uint256 found = 0;
        for (uint256 i = 0; live >> i != 0; ++i) {
            if (live >> i & 1 == 0) continue;
            (uint256 x, uint256 y) = _keyAt(i);
            StoredKey storage stored = _account().keys[i];
            keys[found++] = Key(uint8(i), x, y, stored.addedAt, stored.label);
        }
    }

    /// @notice The P-256 key of the lowest index; zeros when only addresses are left, and of the implementation.
    function getOwner() external view returns (uint256 x, uint256 y) {
        uint256 live = _live();
        for (uint256 i = 0; live >> i != 0; ++i) {
            if (live >> i & 1 == 0) continue;
            (x, y) = _keyAt(i);
            if (y != 0) return (x, y);
        }
        return (0, 0);
    }

    /// @dev Throws for what can be no key or is one.
    function _checkNewKey(uint256 x, uint256 y) internal view {
        bool valid = y == 0
            ? x != 0 && x <= type(uint160).max && x != uint160(address(this))
            : P256.isValidPublicKey(bytes32(x), bytes32(y));
        if (!valid) revert InvalidKey();
        if (isKey(x, y)) revert KeyIsOwner();
    }

    function _addKeyByOwners(uint256 x, uint256 y, bytes32 label) internal {
        if (_count(_live()) >= KEYS_BY_OWNERS_MAX) revert TooManyKeys();
        _checkNewKey(x, y);
        _addKey(x, y, label);
    }

    /// @dev The key has been checked.
    function _addKey(uint256 x, uint256 y, bytes32 label) internal {
        uint256 index = _freeIndex(x, y);
        AccountStorage storage account = _account();
        account.changed ^= uint32(1 << index);
        StoredKey storage stored = account.keys[index];
        if (index != 0) (stored.x, stored.y) = (x, y);
        (stored.addedAt, stored.label) = (uint40(block.timestamp), label);
        emit KeyAdded(x, y, uint8(index), label);
    }

    function _removeKey(uint8 index, uint256 x, uint256 y) internal {
        (bool live, uint256 keyX, uint256 keyY) = _liveKey(index);
        if (!live || keyX != x || keyY != y) revert NoSuchKey();
        AccountStorage storage account = _account();
        if (_live() == 1 << index) revert LastKey();
        account.changed ^= uint32(1 << index);
        delete account.keys[index];
        emit KeyRemoved(x, y, index);
    }

    function _nameKey(uint8 index, bytes32 label) internal {
        if (_live() >> index & 1 == 0) revert NoSuchKey();
        _account().keys[index].label = label;
        emit KeyNamed(index, label);
    }

    /// @dev Whether an index holds a key, and that key.
    function _liveKey(uint256 index) internal view returns (bool live, uint256 x, uint256 y) {
        if (_live() >> index & 1 == 0) return (false, 0, 0);
        (x, y) = _keyAt(index);
        return (true, x, y);
    }

    function _account() internal pure returns (AccountStorage storage account) {
        assembly ("memory-safe") {
            account.slot := STORAGE
        }
    }

    /// @dev A bit for each index that holds a key. Without the proxy's code, as in the implementation and in an address
    /// that delegates to it (EIP-7702), there is no first key.
    function _live() private view returns (uint256) {
        uint256 first = address(this).code.length == AccountProxy.SIZE ? 1 : 0;
        return _account().changed ^ first;
    }

    function _keyAt(uint256 index) private view returns (uint256 x, uint256 y) {
        if (index != 0) {
            StoredKey storage stored = _account().keys[index];
            return (stored.x, stored.y);
        }
        uint256 start = AccountProxy.KEY_AT;
        assembly ("memory-safe") {
            extcodecopy(address(), 0x00, start, 0x40)
            x := mload(0x00)
            y := mload(0x20)
        }
    }

    function _freeIndex(uint256 x, uint256 y) private view returns (uint256 index) {
        (uint256 firstX, uint256 firstY) = _keyAt(0);
        if (firstX == x && firstY == y) return 0;
        uint256 live = _live();
        for (index = 1; index < INDICES; ++index) if (live >> index & 1 == 0) return index;
        revert TooManyKeys();
    }

    function _count(uint256 bits) private pure returns (uint256 count) {
        for (; bits != 0; bits &= bits - 1) ++count;
    }
}
