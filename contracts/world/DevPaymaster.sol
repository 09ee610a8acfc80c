// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PaymasterSigner} from "@openzeppelin/contracts/account/paymaster/extensions/PaymasterSigner.sol";
import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignerECDSA} from "@openzeppelin/contracts/utils/cryptography/signers/SignerECDSA.sol";

/// @title For the local world: pays for the user operations that its signer agreed to
/// @dev Its deposit is paid in by `EntryPoint.depositTo` and cannot be taken out again: local ether is worth nothing.
contract DevPaymaster is PaymasterSigner, SignerECDSA {
    IEntryPoint private immutable _entryPoint;

    constructor(IEntryPoint trusted, address signer) EIP712("Dev Paymaster", "1") SignerECDSA(signer) {
        _entryPoint = trusted;
    }

    function entryPoint() public view override returns (IEntryPoint) {
        return _entryPoint;
    }
}
