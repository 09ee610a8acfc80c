import { toHex } from './bytes.ts';

/** Digits of a one-time code. */
export const CODE_DIGITS = 6;

/** Returns `length` unpredictable bytes; a test passes its own. */
export type Random = (length: number) => Uint8Array<ArrayBuffer>;

/** The host's cryptographic generator. */
export const systemRandom: Random = (length) => crypto.getRandomValues(new Uint8Array(length));

/**
 * A one-time code of `CODE_DIGITS` decimal digits, each equally likely: draws beyond the last whole multiple are
 * discarded.
 */
export function randomCode(random: Random): string {
  const span = 10 ** CODE_DIGITS;
  const fair = 2 ** 32 - (2 ** 32 % span);
  for (;;) {
    const bytes = random(4);
    const draw = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
    if (draw < fair) return String(draw % span).padStart(CODE_DIGITS, '0');
  }
}

/** 128 random bits as 32 hex digits: ids of rows and requests. */
export function randomId(random: Random): string {
  return toHex(random(16));
}
