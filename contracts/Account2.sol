// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Account as ERC4337Account} from "@openzeppelin/contracts/account/Account.sol";
import {ERC7821} from "@openzeppelin/contracts/account/extensions/draft-ERC7821.sol";
import {ERC4337Utils} from "@openzeppelin/contracts/account/utils/ERC4337Utils.sol";
import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ERC7739} from "@openzeppelin/contracts/utils/cryptography/signers/draft-ERC7739.sol";
import {AccountRecovery} from "./account2/AccountRecovery.sol";
import {Assertion} from "./account2/Assertion.sol";

/// @title Smart account (ERC-4337) of several keys, with a way back
/// @notice Acts on what any of its keys signed. The first key is in the proxy's code (`AccountFactory2`), further ones are
/// stored (`AccountKeys`). Owners are who holds a key. They may name a guardian, which can propose a new key and nothing
/// else (`AccountRecovery`).
///
/// What a key signs: a passkey (P-256) signs by a WebAuthn assertion with the user verified, encoded as OpenZeppelin's
/// `WebAuthn.WebAuthnAuth` without its first word, s in the lower half of the order. An address signs by ECDSA over 32
/// bytes: r ‖ s ‖ v, s in the lower half.
/// - An operation: index (1 byte) ‖ validUntil (6 bytes, seconds since 1970) ‖ assertion. A passkey's challenge is
///   `operationDigest(userOpHash, validUntil)`. That is the EIP-712 hash of a struct, and an address signs it as typed data
///   in the account's domain. Nothing signed is good for ever: `validUntil` is never zero.
/// - A message (ERC-1271): index ‖ assertion over the digest that ERC-7739 nests the message in.
/// - A veto: index ‖ assertion over `VetoRecovery(uint32 id,uint256 x,uint256 y)`, typed data in the account's domain.
/// `SignedBy` names the key of each operation and veto.
/// The domain is name "Vault Account", version "2", chain and account. No digest of one kind is one of another kind, of
/// another account or chain.
///
/// Who may do what: the EntryPoint, after `validateUserOp` has found a key's signature, and the account itself execute,
/// change keys and guardian and upgrade. The guardian proposes a recovery and withdraws it. Anyone finishes a recovery in
/// its time, carries an owner's veto, reads, sends ether and tokens, and has a signature checked.
///
/// What cannot be front-run or replayed: an operation, since its hash covers its fields, account, nonce, EntryPoint and
/// chain, and the EntryPoint spends the nonce; a veto, since it names the proposal, and an id is never given twice. Who
/// includes an operation or a veto first does the same, once. A guardian that sees a veto coming can withdraw: the veto is
/// not counted then, and the delay of its next proposal begins again.
contract Account2 is ERC4337Account, ERC7739, ERC7821, AccountRecovery, UUPSUpgradeable, ERC721Holder, ERC1155Holder {
    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    bytes32 private constant OPERATION_TYPEHASH = keccak256("VaultOperation(bytes32 userOpHash,uint48 validUntil)");
    bytes32 private constant VETO_TYPEHASH = keccak256("VetoRecovery(uint32 id,uint256 x,uint256 y)");
    /// @dev From 2^47 on EntryPoint 0.9 may read a number of a block.
    uint256 private constant VALID_UNTIL_END = 1 << 47;

    IEntryPoint private immutable _entryPoint;

    /// @param x of the key that signed
    /// @param subject the hash of an operation, which has been validated, or the digest of a veto
    event SignedBy(uint256 indexed x, bytes32 subject);

    error InvalidVeto();

    constructor(IEntryPoint trusted) EIP712("Vault Account", "2") {
        _entryPoint = trusted;
    }

    /// @notice Calls `target` with `value` wei; reverts with the target's own reason. Owners.
    function execute(address target, uint256 value, bytes calldata data) external onlyEntryPointOrSelf {
        _call(target, value, data);
    }

    /// @notice Makes calls in order, all or none. Owners. The same in ERC-7821's form is `execute(bytes32,bytes)`.
    function executeBatch(Call[] calldata calls) external onlyEntryPointOrSelf {
        for (uint256 i = 0; i < calls.length; ++i) _call(calls[i].target, calls[i].value, calls[i].data);
    }

    /// @notice Adds a key, up to `KEYS_BY_OWNERS_MAX`. Owners.
    /// @param x with `y` a point of P-256, or an Ethereum address with `y` zero
    /// @param label what its owner calls it, UTF-8
    function addKey(uint256 x, uint256 y, bytes32 label) external onlyEntryPointOrSelf {
        _addKeyByOwners(x, y, label);
    }

    /// @notice Removes a key, never the last. Owners. The key is named too, since its index may be another key's by now.
    function removeKey(uint8 index, uint256 x, uint256 y) external onlyEntryPointOrSelf {
        _removeKey(index, x, y);
    }

    /// @notice Gives a key another label. Owners.
    function nameKey(uint8 index, bytes32 label) external onlyEntryPointOrSelf {
        _nameKey(index, label);
    }

    /// @notice Names the guardian, or none by the zero address. Ends a pending recovery, all vetoes and a bar. Owners.
    /// @param delay of each recovery in seconds, 72 hours to 365 days
    /// @param commitment to the identifier that may recover, see `GuardianSet`
    function setGuardian(address guardian, uint32 delay, bytes32 commitment) external onlyEntryPointOrSelf {
        _setGuardian(guardian, delay, commitment);
    }

    /// @notice Ends the pending recovery: as a veto by owners, as a withdrawal by the guardian.
    function cancelRecovery() external {
        if (msg.sender == _account().guardian) return _withdraw();
        _checkEntryPointOrSelf();
        _veto();
    }

    /// @notice Ends the pending recovery by a signature of any key that lives, see above. Anyone carries it.
    function vetoRecovery(bytes calldata signature) external {
        (uint32 id, uint256 x, uint256 y,,) = getRecovery();
        if (id == 0) revert NoRecovery();
        bytes32 digest = _hashTypedDataV4(keccak256(abi.encode(VETO_TYPEHASH, id, x, y)));
        if (!_rawSignatureValidation(digest, signature)) revert InvalidVeto();
        (, uint256 signer,) = _liveKey(uint8(signature[0]));
        emit SignedBy(signer, digest);
        _veto();
    }

    /// @notice The EntryPoint this account trusts.
    function entryPoint() public view override returns (IEntryPoint) {
        return _entryPoint;
    }

    /// @notice 2: tells it from the first account, which has no such function.
    function version() external pure virtual returns (uint256) {
        return 2;
    }

    /// @notice What a passkey signs for an operation until `validUntil`: the hash of the struct
    /// `VaultOperation(bytes32 userOpHash,uint48 validUntil)`.
    function operationDigest(bytes32 userOpHash, uint48 validUntil) public pure returns (bytes32) {
        return keccak256(abi.encode(OPERATION_TYPEHASH, userOpHash, validUntil));
    }

    function _validateUserOp(PackedUserOperation calldata, bytes32 userOpHash, bytes calldata signature)
        internal
        override
        returns (uint256)
    {
        if (signature.length < 7) return ERC4337Utils.SIG_VALIDATION_FAILED;
        uint48 validUntil = uint48(bytes6(signature[1:7]));
        if (validUntil == 0 || validUntil >= VALID_UNTIL_END) return ERC4337Utils.SIG_VALIDATION_FAILED;
        bytes32 digest = operationDigest(userOpHash, validUntil);
        (bool live, uint256 x, uint256 y) = _liveKey(uint8(signature[0]));
        if (live && y == 0) digest = _hashTypedDataV4(digest);
        if (!live || !_isSigned(digest, signature[7:], x, y)) return ERC4337Utils.SIG_VALIDATION_FAILED;
        emit SignedBy(x, userOpHash);
        return uint256(validUntil) << 160;
    }

    function _rawSignatureValidation(bytes32 digest, bytes calldata signature) internal view override returns (bool) {
        if (signature.length == 0) return false;
        (bool live, uint256 x, uint256 y) = _liveKey(uint8(signature[0]));
        return live && _isSigned(digest, signature[1:], x, y);
    }

    function _erc7821AuthorizedExecutor(address caller, bytes32 mode, bytes calldata executionData)
        internal
        view
        override
        returns (bool)
    {
        return caller == address(_entryPoint) || super._erc7821AuthorizedExecutor(caller, mode, executionData);
    }

    /// @dev The proxy's slot is zero until the first upgrade, which is no reason to refuse it.
    function _checkProxy() internal view override {}

    function _authorizeUpgrade(address) internal view override onlyEntryPointOrSelf {}

    /// @dev The key lives: nobody recovers to the zero address here, since ECDSA answers it only with an error.
    function _isSigned(bytes32 digest, bytes calldata signature, uint256 x, uint256 y) private view returns (bool) {
        if (y == 0) {
            (address signer, ECDSA.RecoverError failure,) = ECDSA.tryRecoverCalldata(digest, signature);
            return failure == ECDSA.RecoverError.NoError && uint160(signer) == x;
        }
        return Assertion.verify(digest, signature, x, y);
    }

    function _call(address target, uint256 value, bytes calldata data) private {
        if (!LowLevelCall.callNoReturn(target, value, data)) LowLevelCall.bubbleRevert();
    }
}
