import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';

/** Hashes bytes; the next call of any overwrites the 32 bytes that it returns. */
export type Digest = (bytes: Uint8Array) => Uint8Array;

/** SHA-256 of a short text, at half the cost of a new hash. */
export const sha256Digest: Digest = createDigest(sha256.create());

/** HMAC-SHA256 of a short text; the state that depends on the key alone is computed once for each key. */
export function hmacDigest(key: Uint8Array): Digest {
  const made = known.get(key) ?? createDigest(hmac.create(sha256, key));
  known.set(key, made);
  return made;
}

const known = new WeakMap<Uint8Array, Digest>();

/** A hash as it begins, and the one that goes on from there. */
interface Resumable {
  clone(): Resumable;
  _cloneInto(to: never): unknown;
  update(bytes: Uint8Array): unknown;
  digestInto(to: Uint8Array): void;
}

function createDigest(start: Resumable): Digest {
  const work = start.clone();
  return (bytes) => {
    start._cloneInto(work as never);
    work.update(bytes);
    work.digestInto(DIGEST);
    return DIGEST;
  };
}

const DIGEST = new Uint8Array(32);
