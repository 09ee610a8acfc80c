// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DIDRegistry} from "./DIDRegistry.sol";
import {Account} from "./Account.sol";

/// @title Reads all there is to know of an account in one call
/// @notice For reading off-chain only: what an address answers about itself is its own word. Who needs to know that an
/// address is an account of the factory compares it with `AccountFactory.getAddress` of its key and salt.
///
/// Who may do what: anyone reads. Nothing is stored, nothing is owned, so there is nothing to front-run.
contract AccountHelper {
    /// @dev So that an address that burns whatever it is given cannot make the whole call fail.
    uint256 private constant READ_GAS = 300_000;

    DIDRegistry public immutable registry;

    constructor(DIDRegistry didRegistry) {
        registry = didRegistry;
    }

    /// @notice An account's nonce, its DID's hash, whether that DID is active, and its P-256 key (x, y). All zero without
    /// code at the address, whatever is registered for it; zero what the code there does not answer. Never reverts.
    function getAccountState(address account)
        external
        view
        returns (uint256 nonce, bytes32 did, bool isActive, uint256[2] memory pubKey)
    {
        if (account.code.length == 0) return (nonce, did, isActive, pubKey);
        (nonce,) = _read(account, 0x20, abi.encodeWithSignature("getNonce()"));
        (pubKey[0], pubKey[1]) = _read(account, 0x40, abi.encodeCall(Account.getOwner, ()));
        did = registry.controllerToDid(account);
        (,,,, isActive) = registry.resolve(did);
    }

    /// @dev Two words of an answer; zeros when the call fails or answers fewer than `size` bytes. Copies no more than that
    /// of an answer of any length.
    function _read(address account, uint256 size, bytes memory data) private view returns (uint256 first, uint256 second) {
        assembly ("memory-safe") {
            mstore(0x00, 0)
            mstore(0x20, 0)
            let done := staticcall(READ_GAS, account, add(data, 0x20), mload(data), 0x00, size)
            if and(done, iszero(lt(returndatasize(), size))) {
                first := mload(0x00)
                second := mload(0x20)
            }
        }
    }
}
