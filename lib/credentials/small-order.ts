import { fromBase64, toHex } from '../base/bytes.ts';

/**
 * The y of the points of Ed25519 whose order divides 8, little-endian, without the bit of the sign: by such a "key"
 * anybody can make signatures. The last two are other spellings of 0 and 1.
 */
const SMALL_ORDER = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]);

/** Whether a public Ed25519 key, base64url of 32 bytes, is a point of small order. */
export function isSmallOrder(x: string): boolean {
  const bytes = fromBase64(x) ?? new Uint8Array(32);
  bytes[31] = (bytes[31] ?? 0) & 0x7f;
  return SMALL_ORDER.has(toHex(bytes));
}
