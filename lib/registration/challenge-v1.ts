import { keccak_256 } from '@noble/hashes/sha3.js';
import * as AbiParameters from 'ox/AbiParameters';
import { fromBase64, fromHex, toHex } from '../base/bytes.ts';

/**
 * What a passkey consents to when it claims a registration; hashes and addresses are 0x-hex, `credentialId` is
 * canonical base64url.
 */
export interface OldConsent {
  readonly chainId: number;
  readonly registry: `0x${string}`;
  readonly didHash: `0x${string}`;
  readonly aliasHash: `0x${string}`;
  readonly smartAccount: `0x${string}`;
  readonly credentialId: string;
}

/**
 * The 32-byte challenge of a consent: keccak256 of the ABI encoding of label, chain, registry, hashes, account and
 * credential (completions section 6).
 */
export function oldChallenge(consent: OldConsent): Uint8Array {
  const credentialHash = keccak_256(fromBase64(consent.credentialId) ?? new Uint8Array());
  const encoded = AbiParameters.encode(PARAMETERS, [
    'vault/register/v1',
    BigInt(consent.chainId),
    consent.registry,
    consent.didHash,
    consent.aliasHash,
    consent.smartAccount,
    `0x${toHex(credentialHash)}`,
  ]);
  return keccak_256(fromHex(encoded.slice(2)) as Uint8Array);
}

const PARAMETERS = [
  { type: 'string' },
  { type: 'uint256' },
  { type: 'address' },
  { type: 'bytes32' },
  { type: 'bytes32' },
  { type: 'address' },
  { type: 'bytes32' },
] as const;
