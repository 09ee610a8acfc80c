import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex, utf8 } from '../base/bytes.ts';
import { type Random, randomId } from '../base/random.ts';

/**
 * The stored digest of a one-time code: hex of HMAC-SHA256 with the pepper over channel, identifier, code id and
 * code. A bare hash of six digits could be reversed in a second; the row's id makes equal codes differ.
 */
export function codeDigest(pepper: Uint8Array, identifierKey: string, codeId: string, code: string): string {
  return digestOf(known.get(pepper) ?? hmacOf(pepper), `vault/code/v1\0${identifierKey}\0${codeId}\0${code}`);
}

/** A hash as it begins, and the one that goes on from there: to make a new one is half the work on so short a text. */
interface Digester {
  readonly start: Resumable;
  readonly work: Resumable;
}

interface Resumable {
  _cloneInto(to: never): unknown;
  update(bytes: Uint8Array): unknown;
  digestInto(to: Uint8Array): void;
}

const known = new WeakMap<Uint8Array, Digester>();

function hmacOf(pepper: Uint8Array): Digester {
  const start = hmac.create(sha256, pepper);
  const made = { start, work: start.clone() };
  known.set(pepper, made);
  return made;
}

function digestOf({ start, work }: Digester, text: string): string {
  start._cloneInto(work as never);
  work.update(utf8(text));
  work.digestInto(DIGEST);
  return toHex(DIGEST);
}

const DIGEST = new Uint8Array(32);

/** A fresh pass: the time of its send, by which its row is found without an index of its own, and 128 random bits. */
export function newPass(random: Random, now: number): string {
  return `${now.toString(36)}-${randomId(random)}`;
}

/** When the pass was made; NaN for a text that is none. */
export function passTime(pass: string): number {
  return Number.parseInt(pass, 36);
}

/** The stored digest of a pass: half of SHA-256 under a label. Nobody can try its 128 random bits. */
export function passDigest(pass: string): string {
  return digestOf(PASS, `vault/pass/v1\0${pass}`).slice(0, 32);
}

const PASS: Digester = { start: sha256.create(), work: sha256.create() };
