import { keccak_256 } from '@noble/hashes/sha3.js';
import * as AbiParameters from 'ox/AbiParameters';
import { concat, fromBase64, fromHex, toHex, utf8 } from '../base/bytes.ts';
import { ZERO_WORD } from '../chain/contract-call.ts';
import type { Identifier } from '../identity/identifier.ts';

/** 0x-hex. */
type Hex = `0x${string}`;

/** The hash for "none". */
export const NO_HASH: Hex = `0x${ZERO_WORD}`;

/** The registration that a passkey consents to; hashes and addresses are 0x-hex. */
export interface RegistrationConsent {
  /** The hash of the DID of the vault that the proof is for. */
  readonly registrarDidHash: Hex;
  readonly chainId: number;
  readonly registry: Hex;
  readonly didHash: Hex;
  /** The alias hash of a handle, else zero: an address's or a number's could be reversed by guessing. */
  readonly aliasHash: Hex;
  readonly smartAccount: Hex;
  /** Canonical base64url. */
  readonly credentialId: string;
  /** As `identifierHash` makes it. */
  readonly identifierHash: Hex;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

/**
 * The 32-byte challenge of a consent: keccak256 of the ABI encoding of the label and the nine values (completions-2
 * section 1.8, `docs/passkey-proof.md`).
 */
export function registrationChallenge(consent: RegistrationConsent): Uint8Array {
  const encoded = AbiParameters.encode(PARAMETERS, [
    'vault/register/v2',
    consent.registrarDidHash,
    BigInt(consent.chainId),
    consent.registry,
    consent.didHash,
    consent.aliasHash,
    consent.smartAccount,
    keccak(fromBase64(consent.credentialId) ?? new Uint8Array()),
    consent.identifierHash,
    BigInt(consent.expiresAt),
  ]);
  return keccak_256(bytesOf(encoded));
}

/**
 * Ties a consent to an identifier and its attestation: keccak256 of the attestation's signature and the UTF-8 of
 * `channel:normal form`. Zero for a handle, which has no attestation.
 */
export function identifierHash({ channel, key }: Identifier, attestationSignature: string | undefined): Hex {
  if (channel === 'handle' || attestationSignature === undefined) return NO_HASH;
  return keccak(concat(bytesOf(attestationSignature), utf8(key)));
}

const PARAMETERS = [
  { type: 'string' },
  { type: 'bytes32' },
  { type: 'uint256' },
  { type: 'address' },
  { type: 'bytes32' },
  { type: 'bytes32' },
  { type: 'address' },
  { type: 'bytes32' },
  { type: 'bytes32' },
  { type: 'uint256' },
] as const;

function keccak(bytes: Uint8Array): Hex {
  return `0x${toHex(keccak_256(bytes))}`;
}

function bytesOf(hex: string): Uint8Array {
  const bytes = fromHex(hex.slice(2));
  if (!bytes) throw new TypeError('not hex');
  return bytes;
}
