import { keccak_256 } from '@noble/hashes/sha3.js';
import * as AbiParameters from 'ox/AbiParameters';
import { fromBase64, fromHex, toHex } from '../base/bytes.ts';

type Hex = `0x${string}`;

/** The values in the challenge; hashes and addresses are 0x-hex, `expiresAt` is seconds since 1970. */
export interface RecoverySubject {
  readonly registrarDidHash: Hex;
  readonly chainId: number;
  readonly smartAccount: Hex;
  readonly x: bigint;
  readonly y: bigint;
  /** As `identifierHash` of a registration makes it. */
  readonly identifierHash: Hex;
  readonly expiresAt: number;
}

/** The 32-byte challenge that a new passkey signs to become a key of an account by a recovery. */
export function recoverChallenge(
  { registrarDidHash, chainId, smartAccount, x, y, identifierHash, expiresAt }: RecoverySubject,
  credentialId: string,
): Uint8Array {
  const credential = keccak_256(fromBase64(credentialId) ?? new Uint8Array());
  const encoded = AbiParameters.encode(RECOVER, [
    'vault/recover/v1',
    registrarDidHash,
    BigInt(chainId),
    smartAccount,
    x,
    y,
    `0x${toHex(credential)}`,
    identifierHash,
    BigInt(expiresAt),
  ]);
  return keccak_256(fromHex(encoded.slice(2)) ?? new Uint8Array());
}

/**
 * The lines that a key of the account signs, before the nonce, to name its second address, or to name none by
 * `NO_HASH`.
 */
export function contactLines(
  { registrarDid, chainId }: { readonly registrarDid: string; readonly chainId: number },
  account: string,
  identifierHash: Hex,
): readonly string[] {
  return ['vault/recovery-contact/v2', registrarDid, String(chainId), account, identifierHash];
}

const RECOVER = [
  { type: 'string' },
  { type: 'bytes32' },
  { type: 'uint256' },
  { type: 'address' },
  { type: 'uint256' },
  { type: 'uint256' },
  { type: 'bytes32' },
  { type: 'bytes32' },
  { type: 'uint256' },
] as const;
