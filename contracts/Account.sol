// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Account as ERC4337Account} from "@openzeppelin/contracts/account/Account.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {WebAuthn} from "@openzeppelin/contracts/utils/cryptography/WebAuthn.sol";

/// @title Smart account (ERC-4337) of one passkey
/// @notice Acts on what one P-256 key signed by a WebAuthn assertion with the user verified. The key is in the clone's
/// code (`AccountFactory`), so it never changes and no transaction sets it: who loses the passkey loses the account.
/// A signature is the ABI encoding of OpenZeppelin's `WebAuthn.WebAuthnAuth` without its first word (the tuple's offset),
/// with s in the lower half of the curve's order. P-256 is verified by the precompile at 0x100 (RIP-7212, EIP-7951) and in
/// Solidity on chains without it.
///
/// Which EntryPoint: one for each implementation, named when it is deployed; v0.7 and v0.8 both fit, since they call
/// `validateUserOp` alike and hand over the hash that is to be signed, which names EntryPoint and chain. To trust two at
/// once would let the weaker one move everything, and give the account two nonces that know nothing of each other.
///
/// Who may do what: only the EntryPoint executes, after `validateUserOp` has found the key's signature on the operation's
/// hash; anyone reads, sends ether and tokens, and has a signature checked. Nobody upgrades, pauses or recovers.
///
/// What cannot be front-run or replayed: an operation, since its hash covers all its fields, account, nonce, EntryPoint and
/// chain, and the EntryPoint spends the nonce; a signature for another contract (ERC-1271), since what is signed is
/// `replaySafeHash`, which names this account and this chain and can never be an operation's hash.
/// Whoever sees an operation may include it first, and only gains its fee: it does the same, once.
contract Account is ERC4337Account, EIP712, IERC1271, ERC721Holder, ERC1155Holder {
    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    bytes32 private constant MESSAGE_TYPEHASH = keccak256("VaultMessage(bytes32 hash)");
    bytes4 private constant INVALID_SIGNATURE = 0xffffffff;

    IEntryPoint private immutable _entryPoint;
    /// @dev The implementation has no arguments behind its code: it has no key, and nobody signs for it.
    address private immutable _implementation = address(this);

    constructor(IEntryPoint trusted) EIP712("Vault Account", "1") {
        _entryPoint = trusted;
    }

    /// @notice Calls `target` with `value` wei; reverts with the target's own reason. The EntryPoint only.
    function execute(address target, uint256 value, bytes calldata data) external onlyEntryPoint {
        _call(target, value, data);
    }

    /// @notice Makes calls in order, all or none. The EntryPoint only. Selector 0x34fcd5be, as in the EntryPoint's own
    /// `BaseAccount` since v0.8.
    function executeBatch(Call[] calldata calls) external onlyEntryPoint {
        for (uint256 i = 0; i < calls.length; ++i) _call(calls[i].target, calls[i].value, calls[i].data);
    }

    /// @notice The account's P-256 key; zeros of the implementation, which has none.
    function getOwner() public view returns (uint256 x, uint256 y) {
        if (address(this) == _implementation) return (0, 0);
        (x, y) = abi.decode(Clones.fetchCloneArgs(address(this)), (uint256, uint256));
    }

    /// @notice The EntryPoint this account trusts.
    function entryPoint() public view override returns (IEntryPoint) {
        return _entryPoint;
    }

    /// @notice Whether the account's key signed `replaySafeHash(hash)` (ERC-1271).
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bool valid = _rawSignatureValidation(replaySafeHash(hash), signature);
        return valid ? IERC1271.isValidSignature.selector : INVALID_SIGNATURE;
    }

    /// @notice What the key signs in place of `hash` for this account on this chain alone: the EIP-712 digest of
    /// `VaultMessage(bytes32 hash)` in the domain (name "Vault Account", version "1", chain, account).
    function replaySafeHash(bytes32 hash) public view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(MESSAGE_TYPEHASH, hash)));
    }

    function _rawSignatureValidation(bytes32 hash, bytes calldata signature) internal view override returns (bool) {
        (bool decoded, WebAuthn.WebAuthnAuth calldata assertion) = WebAuthn.tryDecodeAuth(signature);
        if (!decoded) return false;
        (uint256 x, uint256 y) = getOwner();
        return WebAuthn.verify(abi.encodePacked(hash), assertion, bytes32(x), bytes32(y));
    }

    function _call(address target, uint256 value, bytes calldata data) private {
        if (!LowLevelCall.callNoReturn(target, value, data)) LowLevelCall.bubbleRevert();
    }
}
