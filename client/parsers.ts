import { bytesOf, fixed, join, number } from './bytes.ts';
import type { Module } from './load.ts';
import { dynamicOf, fieldsOf, type PackedUserOperation, type UserOperationDomain } from './user-operation.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** keccak256 of `VaultOperation(bytes32 userOpHash,uint48 validUntil)`. */
const OPERATION_TYPE = bytesOf('0x393d98fa2fc192fe8e554e9b2d89b9757d405b72719988a6e11a35ddce764f27');

/** The EntryPoints whose hashes are known. */
const VERSIONS: readonly UserOperationDomain['version'][] = ['0.7', '0.8', '0.9'];

/** Parsers of passkeys and their signatures, and the hashes of names. */
export function createParsers({ abi, window: { fill, take, hash } }: Module) {
  return {
    /** x‖y of a passkey's COSE_Key on P-256 (RFC 9053). */
    publicKeyOf: (cose: Uint8Array): Bytes => fill([cose], 64, (p, out) => abi.cose_p256(p, cose.length, out)),
    /** r‖s, with low s, of a passkey's P-256 signature in DER. */
    rawSignature: (der: Uint8Array): Bytes => fill([der], 64, (p, out) => abi.der_to_raw(p, der.length, out)),
    /** A WebAuthn assertion as the signature that the `Account` contract takes; `signature` is r‖s. */
    packAssertion: (authenticatorData: Uint8Array, clientData: Uint8Array, signature: Uint8Array): Bytes =>
      take(
        [authenticatorData, clientData, fixed(signature, 64)],
        320 + authenticatorData.length + clientData.length,
        (a, c, s, out) => abi.webauthn_pack(a, authenticatorData.length, c, clientData.length, s, out),
      ),
    /**
     * The hash that the account's owner signs (ERC-4337). Throws a `TypeError` for another version of the EntryPoint, a
     * `RangeError` for a number that does not fit and for an operation that 0.9 refuses.
     */
    userOpHash(op: PackedUserOperation, domain: UserOperationDomain): Bytes {
      if (!VERSIONS.includes(domain.version)) throw new TypeError('expected an EntryPoint 0.7, 0.8 or 0.9');
      const hashes = dynamicOf(op, domain).map((bytes) => hash('keccak256', bytes));
      const operate = domain.version === '0.7' ? abi.userop_hash_v07_of : abi.userop_hash_v08_of;
      return fill([fieldsOf(op, domain), join(hashes)], 32, operate);
    },
    /**
     * The digest that a passkey signs for an operation of an account of the second kind, which ends after `validUntil`,
     * in seconds: keccak256 of a type hash, the operation's hash, and the end.
     */
    operationDigest: (userOpHash: Uint8Array, validUntil: number): Bytes =>
      hash('keccak256', join([OPERATION_TYPE, fixed(userOpHash, 32), number(BigInt(validUntil), 32)])),
  };
}
