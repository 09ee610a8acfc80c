// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @title The did:pkh of an address on this chain, by its hash
/// @notice `did:pkh:eip155:<chain id>:<address>`, where the address is written in one of two ways: with the capitals of
/// EIP-55 or in lower case. A text with other capitals is another text, and has another hash.
library AccountDid {
    uint256 private constant ZEROS = 0x3030303030303030303030303030303030303030303030303030303030303030;
    uint256 private constant ONES = 0x0101010101010101010101010101010101010101010101010101010101010101;
    /// @dev From the digit after "9" to the letter "a".
    uint256 private constant TO_LETTER = 0x27;
    uint256 private constant TO_CAPITAL = 0x20;

    /// @notice The hash of the DID with the capitals of EIP-55.
    function checksummed(address account) internal view returns (bytes32) {
        (bytes32 first, bytes8 last) = _lowerCase(account);
        return _hash(_withCapitals(first, last));
    }

    /// @notice Whether a hash is that of the address's DID, in one of the two ways.
    function isOf(bytes32 didHash, address account) internal view returns (bool) {
        (bytes32 first, bytes8 last) = _lowerCase(account);
        return didHash == _hash(_withCapitals(first, last)) || didHash == _hash(abi.encodePacked(first, last));
    }

    function _hash(bytes memory digits) private view returns (bytes32) {
        return keccak256(abi.encodePacked("did:pkh:eip155:", Strings.toString(block.chainid), ":0x", digits));
    }

    /// @dev The 40 hex digits of an address, in two parts.
    function _lowerCase(address account) private pure returns (bytes32 first, bytes8 last) {
        uint256 value = uint160(account);
        first = bytes32(_digits(_spread(value >> 32)));
        last = bytes8(uint64(_digits(_spread(value & 0xffffffff))));
    }

    /// @dev EIP-55: a letter is a capital where the same place of the hash of all digits holds 8 or more.
    function _withCapitals(bytes32 first, bytes8 last) private pure returns (bytes memory) {
        uint256 places = uint256(keccak256(abi.encodePacked(first, last)));
        uint256 capitals = uint256(first) - _capitals(uint256(first), _spread(places >> 128));
        uint256 tail = uint64(last);
        tail -= _capitals(tail, _spread((places >> 96) & 0xffffffff));
        return abi.encodePacked(bytes32(capitals), bytes8(uint64(tail)));
    }

    /// @dev What to take away from digits so that the letters at the marked places are capitals.
    function _capitals(uint256 digits, uint256 places) private pure returns (uint256) {
        // A letter has bit 6 set, a digit has not; 8 or more has bit 3 set.
        return ((digits >> 6) & (places >> 3) & ONES) * TO_CAPITAL;
    }

    /// @dev Numbers below 16, one a byte, as lower-case hex digits; only for as many bytes as are there.
    function _digits(uint256 nibbles) private pure returns (uint256) {
        return nibbles + ZEROS + (((nibbles + ONES * 6) >> 4) & ONES) * TO_LETTER;
    }

    /// @dev The low 16 bytes as 32 bytes that hold 4 bits each.
    function _spread(uint256 v) private pure returns (uint256) {
        v = (v | (v << 64)) & 0x0000000000000000ffffffffffffffff0000000000000000ffffffffffffffff;
        v = (v | (v << 32)) & 0x00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffff;
        v = (v | (v << 16)) & 0x0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff;
        v = (v | (v << 8)) & 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff;
        return (v | (v << 4)) & 0x0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f;
    }
}
