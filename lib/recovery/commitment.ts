import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import * as AbiParameters from 'ox/AbiParameters';
import { concat, fromHex, toHex, utf8 } from '../base/bytes.ts';

/**
 * The value that an owner puts on-chain to name the address that may recover the account: keccak256 of the ABI encoding
 * of the label, the account, keccak256 of `channel:normal form`, and a salt. Nobody without the guardian's key can try
 * addresses against it; the salt follows from that key, so there is nothing to store or to lose.
 */
export function recoveryCommitment(guardianKey: string, account: string, identifierKey: string): `0x${string}` {
  const bytes = bytesOf(guardianKey);
  const key = hkdf(sha256, bytes, undefined, utf8('vault/recovery/salt/v1'), 32);
  const salt = hmac(sha256, key, concat(bytesOf(account), utf8(identifierKey)));
  const encoded = AbiParameters.encode(PARAMETERS, [
    'vault/recovery/v1',
    account as `0x${string}`,
    `0x${toHex(keccak_256(utf8(identifierKey)))}`,
    `0x${toHex(salt)}`,
  ]);
  return `0x${toHex(keccak_256(bytesOf(encoded)))}`;
}

const PARAMETERS = [{ type: 'string' }, { type: 'address' }, { type: 'bytes32' }, { type: 'bytes32' }] as const;

function bytesOf(hex: string): Uint8Array {
  const bytes = fromHex(hex.slice(2));
  if (!bytes) throw new TypeError('not hex');
  return bytes;
}
