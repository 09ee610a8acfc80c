/**
 * r‖s of a P-256 signature as authenticators write it: DER, a sequence of two integers (RFC 3279 section 2.2.3). Throws
 * a `TypeError` for anything else. Whether r and s are in the curve's range is checked where they are used.
 */
export function rawSignature(der: Uint8Array): Uint8Array<ArrayBuffer> {
  const [r, next] = integerAt(der, 2);
  const [s, end] = integerAt(der, next);
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || end !== der.length) throw new TypeError('not a signature in DER');
  const raw = new Uint8Array(64);
  raw.set(r, 32 - r.length);
  raw.set(s, 64 - s.length);
  return raw;
}

/** The bytes of an integer without leading zeros, and where the next thing begins. */
function integerAt(der: Uint8Array, at: number): readonly [Uint8Array, number] {
  const length = der[at + 1] ?? 0;
  const end = at + 2 + length;
  let start = at + 2;
  while (der[start] === 0 && start < end) start++;
  if (der[at] !== 2 || length === 0 || end > der.length || end - start > 32)
    throw new TypeError('not a signature in DER');
  return [der.subarray(start, end), end];
}
