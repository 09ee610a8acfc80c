import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex, utf8 } from '../base/bytes.ts';

/**
 * The stored digest of a one-time code: hex of HMAC-SHA256 with the pepper over channel, identifier, code id and
 * code. A bare hash of six digits could be reversed in a second; the row's id makes equal codes differ.
 */
export function codeDigest(pepper: Uint8Array, identifierKey: string, codeId: string, code: string): string {
  return toHex(hmac(sha256, pepper, utf8(`vault/code/v1\0${identifierKey}\0${codeId}\0${code}`)));
}

/**
 * The stored digest of a challenge or a pass: SHA-256 under the name of its kind. Both are 128 random bits, which
 * nobody can try.
 */
export function ticketDigest(kind: 'challenge' | 'pass', ticket: string): string {
  return toHex(sha256(utf8(`vault/${kind}/v1\0${ticket}`)));
}
