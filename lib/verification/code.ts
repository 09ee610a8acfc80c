import { toHex, utf8 } from '../base/bytes.ts';
import { hmacDigest, sha256Digest } from '../base/hmac.ts';
import { type Random, randomId } from '../base/random.ts';

/**
 * The stored digest of a one-time code: hex of HMAC-SHA256 with the pepper over channel, identifier, code id and
 * code. A bare hash of six digits could be reversed in a second; the row's id makes equal codes differ.
 */
export function codeDigest(pepper: Uint8Array, identifierKey: string, codeId: string, code: string): string {
  return toHex(hmacDigest(pepper)(utf8(`vault/code/v1\0${identifierKey}\0${codeId}\0${code}`)));
}

/** A fresh pass: the time of its send, by which its row is found without an index of its own, and 128 random bits. */
export function newPass(random: Random, now: number): string {
  return `${now.toString(36)}-${randomId(random)}`;
}

/** When the pass was made; NaN for any other text. */
export function passTime(pass: string): number {
  return Number.parseInt(pass, 36);
}

/** The stored digest of a pass: half of SHA-256 under a label. The pass's 128 random bits cannot be guessed. */
export function passDigest(pass: string): string {
  return toHex(sha256Digest(utf8(`vault/pass/v1\0${pass}`))).slice(0, 32);
}
