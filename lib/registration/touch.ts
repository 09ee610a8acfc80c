// Fresh touches of a passkey: the signed lines end with a nonce of the vault's, which says when it was asked for.
import { sha256 } from '@noble/hashes/sha2.js';
import { concat, equalBytes, fromBase64, toBase64url, utf8 } from '../base/bytes.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { hmacDigest, sha256Digest } from '../base/hmac.ts';
import { judgeCeremony, ownPlace } from '../identity/ceremony.ts';
import type { Assertion } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { PROOF_SKEW_MS } from './proof.ts';
import { proofInvalid } from './proof-fault.ts';

/** How long a nonce is good. */
export const NONCE_LIFE_MS = 5 * MINUTE_MS;

const TIME_BYTES = 4;

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock'>;

/**
 * A nonce for a request, any text: base64url of the time, in seconds since 1970, and an HMAC-SHA256 of the request's
 * SHA-256 and the time. Nothing is stored: it may serve until its end.
 */
export function createNonce({ keys, clock }: Pick<Ctx, 'keys' | 'clock'>, request: string): string {
  const time = new Uint8Array(TIME_BYTES);
  new DataView(time.buffer).setUint32(0, Math.floor(clock.now() / 1000));
  return toBase64url(concat(time, macOf(keys, request, time)));
}

/** A passkey's signature over SHA-256 of these lines and the nonce, joined by line breaks. */
export interface Touch {
  /** The label of the signed lines, the vault's DID, and their subject. */
  readonly lines: readonly string[];
  /** The text that the nonce was asked for; the lines themselves, joined by line breaks, if absent. */
  readonly request?: string;
  readonly nonce: string;
  readonly assertion: Assertion;
}

/** A touch that fits its request; its signature is still to be judged. Times are milliseconds. */
export interface OpenedTouch {
  /** The 32 bytes that were signed. */
  readonly challenge: Uint8Array;
  readonly signCount: number;
  /** Whether the key is backed up, so on several devices. */
  readonly isSynced: boolean;
  readonly endsAt: number;
}

/**
 * Judges all of a touch but its signature: it was made at the vault's own pages, for these lines, and its nonce is not
 * over. Throws 403 `proof_invalid` with its reason.
 */
export function openTouch({ config, keys, clock }: Ctx, { lines, request, nonce, assertion }: Touch): OpenedTouch {
  const ceremony = judgeCeremony(assertion, ownPlace(config));
  if ('fault' in ceremony) throw proofInvalid(ceremony.fault, config);
  const challenge = sha256(utf8([...lines, nonce].join('\n')));
  if (ceremony.challenge !== toBase64url(challenge)) throw proofInvalid('challenge', config);
  const askedAt = timeOf(keys, request ?? lines.join('\n'), nonce);
  const now = clock.now();
  // The clock of the process that made it may be ahead of this one's.
  if (askedAt === undefined || now < askedAt - PROOF_SKEW_MS || now >= askedAt + NONCE_LIFE_MS)
    throw proofInvalid('nonce', config);
  const { signCount, isSynced } = ceremony;
  return { challenge, signCount, isSynced, endsAt: askedAt + NONCE_LIFE_MS };
}

/** When a nonce was made for the request; undefined for any other text. */
function timeOf(keys: Ctx['keys'], request: string, nonce: string): number | undefined {
  const bytes = fromBase64(nonce) ?? new Uint8Array();
  const time = bytes.slice(0, TIME_BYTES);
  if (!equalBytes(bytes.subarray(TIME_BYTES), macOf(keys, request, time))) return undefined;
  return new DataView(time.buffer).getUint32(0) * 1000;
}

function macOf({ nonce }: Ctx['keys'], request: string, time: Uint8Array): Uint8Array {
  return hmacDigest(nonce)(concat(sha256Digest(utf8(request)), time));
}
