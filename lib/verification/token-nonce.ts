// Nonces for email tokens: the browser puts one into the token, which is good once, and for the client that asked.
import { concat, equalBytes, fromBase64, toBase64url, toHex, utf8 } from '../base/bytes.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { hmacDigest } from '../base/hmac.ts';
import type { Platform } from '../platform.ts';

/** How long a nonce is good: a person may look at the form for a while. */
export const TOKEN_NONCE_MS = 30 * MINUTE_MS;

const [TIME_BYTES, CHANCE_BYTES] = [4, 8];
/** Processes whose clocks are apart. */
const SKEW_MS = MINUTE_MS;

type Ctx = Pick<Platform, 'keys' | 'clock'>;

/** A nonce for the client: base64url of the time in seconds, 64 random bits, and an HMAC-SHA256 of it all. */
export function createTokenNonce({ keys, clock, random }: Ctx & Pick<Platform, 'random'>, client: string): string {
  const time = new Uint8Array(TIME_BYTES);
  new DataView(time.buffer).setUint32(0, Math.floor(clock.now() / 1000));
  const head = concat(time, random(CHANCE_BYTES));
  return toBase64url(concat(head, macOf(keys, client, head)));
}

/**
 * The id by which a used nonce of this client is noted, and when it ends; undefined for any other text. The id is of
 * the bytes: a text in base64url has several spellings.
 */
export function openTokenNonce(
  { keys, clock }: Ctx,
  client: string,
  nonce: string,
): { readonly id: string; readonly endsAt: number } | undefined {
  const bytes = fromBase64(nonce) ?? new Uint8Array();
  const head = bytes.slice(0, TIME_BYTES + CHANCE_BYTES);
  if (head.length < TIME_BYTES + CHANCE_BYTES) return undefined;
  if (!equalBytes(bytes.subarray(head.length), macOf(keys, client, head))) return undefined;
  const madeAt = new DataView(head.buffer).getUint32(0) * 1000;
  const endsAt = madeAt + TOKEN_NONCE_MS;
  const now = clock.now();
  return now >= madeAt - SKEW_MS && now < endsAt ? { id: `nonce:${toHex(head)}`, endsAt } : undefined;
}

function macOf({ nonce }: Ctx['keys'], client: string, head: Uint8Array): Uint8Array {
  return hmacDigest(nonce)(concat(utf8(`vault/email-token/v1\0${client}\0`), head));
}
