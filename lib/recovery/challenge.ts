import { keccak_256 } from '@noble/hashes/sha3.js';
import * as AbiParameters from 'ox/AbiParameters';
import { fromBase64, fromHex, toHex } from '../base/bytes.ts';

type Hex = `0x${string}`;

/** What both challenges name; hashes and addresses are 0x-hex, `expiresAt` is seconds since 1970. */
export interface RecoverySubject {
  readonly registrarDidHash: Hex;
  readonly chainId: number;
  readonly smartAccount: Hex;
  readonly x: bigint;
  readonly y: bigint;
  /** As `identifierHash` of a registration makes it; zero where no address is named. */
  readonly identifierHash: Hex;
  readonly expiresAt: number;
}

/** The 32-byte challenge that a new passkey signs to become a key of an account by a recovery. */
export function recoverChallenge(subject: RecoverySubject, credentialId: string): Uint8Array {
  const credential = keccak_256(fromBase64(credentialId) ?? new Uint8Array());
  return digestOf(
    AbiParameters.encode(RECOVER, [
      ...subjectOf('vault/recover/v1', subject),
      `0x${toHex(credential)}`,
      subject.identifierHash,
      BigInt(subject.expiresAt),
    ]),
  );
}

/** The 32-byte challenge that a key of the account signs to name its second address, or to name none. */
export function contactChallenge(subject: RecoverySubject): Uint8Array {
  return digestOf(
    AbiParameters.encode(CONTACT, [
      ...subjectOf('vault/recovery-contact/v1', subject),
      subject.identifierHash,
      BigInt(subject.expiresAt),
    ]),
  );
}

const SUBJECT = [
  { type: 'string' },
  { type: 'bytes32' },
  { type: 'uint256' },
  { type: 'address' },
  { type: 'uint256' },
  { type: 'uint256' },
] as const;
const CONTACT = [...SUBJECT, { type: 'bytes32' }, { type: 'uint256' }] as const;
const RECOVER = [...SUBJECT, { type: 'bytes32' }, { type: 'bytes32' }, { type: 'uint256' }] as const;

/** What both challenges begin with. */
function subjectOf(kind: string, { registrarDidHash, chainId, smartAccount, x, y }: RecoverySubject) {
  return [kind, registrarDidHash, BigInt(chainId), smartAccount, x, y] as const;
}

function digestOf(encoded: string): Uint8Array {
  return keccak_256(fromHex(encoded.slice(2)) ?? new Uint8Array());
}
