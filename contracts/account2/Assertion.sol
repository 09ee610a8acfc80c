// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {WebAuthn} from "@openzeppelin/contracts/utils/cryptography/WebAuthn.sol";

/// @title Verifies a WebAuthn assertion where it is, in call data
/// @notice Takes what OpenZeppelin's `WebAuthn.verify` takes after it has copied all of it to memory, in its exact length:
/// nobody makes a payer carry bytes that nobody signed. A test compares both.
library Assertion {
    uint256 private constant AUTHENTICATOR_DATA_MIN = 37;
    uint256 private constant FLAGS_AT = 32;
    /// @dev r, s, two indexes, two offsets and two lengths.
    uint256 private constant WORDS = 8 * 32;
    uint8 private constant PRESENT_AND_VERIFIED = 0x05;
    uint8 private constant BACKUP = 0x18;
    uint8 private constant BACKED_UP_WITHOUT_BEING_ELIGIBLE = 0x10;

    /// @notice Whether the passkey (x, y) signed `challenge` with its user verified.
    /// @param assertion the ABI encoding of `WebAuthn.WebAuthnAuth` without its first word
    function verify(bytes32 challenge, bytes calldata assertion, uint256 x, uint256 y) internal view returns (bool) {
        (bool decoded, WebAuthn.WebAuthnAuth calldata auth) = WebAuthn.tryDecodeAuth(assertion);
        if (!decoded) return false;
        bytes calldata authenticatorData = auth.authenticatorData;
        bytes calldata clientData = bytes(auth.clientDataJSON);
        // Both lengths are below that of the call data, so no sum is too large.
        unchecked {
            if (assertion.length != WORDS + _padded(authenticatorData) + _padded(clientData)) return false;
        }
        if (authenticatorData.length < AUTHENTICATOR_DATA_MIN) return false;
        uint8 flags = uint8(authenticatorData[FLAGS_AT]);
        if (flags & PRESENT_AND_VERIFIED != PRESENT_AND_VERIFIED) return false;
        if (flags & BACKUP == BACKED_UP_WITHOUT_BEING_ELIGIBLE) return false;
        if (!_isAt(clientData, auth.typeIndex, '"type":"webauthn.get"')) return false;
        bytes memory encoded = bytes(Base64.encodeURL(abi.encodePacked(challenge)));
        if (!_isAt(clientData, auth.challengeIndex, abi.encodePacked('"challenge":"', encoded, '"'))) return false;
        bytes32 digest = sha256(abi.encodePacked(authenticatorData, sha256(clientData)));
        return P256.verify(digest, auth.r, auth.s, bytes32(x), bytes32(y));
    }

    function _padded(bytes calldata part) private pure returns (uint256) {
        unchecked {
            return (part.length + 31) & ~uint256(31);
        }
    }

    function _isAt(bytes calldata text, uint256 index, bytes memory part) private pure returns (bool) {
        if (index > text.length || text.length - index < part.length) return false;
        return keccak256(text[index:index + part.length]) == keccak256(part);
    }
}
