type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes from the runtime’s generator. */
export function random(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Calls `use` with fresh random bytes and then zeroes them, because anyone who has them could make the key again. */
export function withRandom<T>(length: number, use: (bytes: Bytes) => T): T {
  const bytes = random(length);
  try {
    return use(bytes);
  } finally {
    bytes.fill(0);
  }
}

/** Returns the bytes; throws a `RangeError` if their number differs. */
export function fixed(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new RangeError(`expected ${length} bytes, not ${bytes.length}`);
  return bytes;
}

/** A number as big-endian bytes of this length. Throws a `RangeError` if it does not fit. */
export function number(value: bigint, length: number): Bytes {
  const hex = value.toString(16).padStart(2 * length, '0');
  if (value < 0n || hex.length > 2 * length) throw new RangeError(`a number that ${length} bytes cannot hold`);
  return bytesOf(`0x${hex}`);
}

/** The bytes of 0x-hex. Throws a `TypeError`. */
export function bytesOf(hex: string): Bytes {
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(hex)) throw new TypeError('expected 0x-hex');
  return Uint8Array.from(hex.slice(2).match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** The bytes as lower-case hex, without 0x. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The UTF-8 of a text. */
export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

/** The parts concatenated. */
export function join(parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Pieces of one length. */
export function cut(bytes: Bytes, length: number): Bytes[] {
  return Array.from({ length: bytes.length / length }, (_, i) => bytes.slice(i * length, (i + 1) * length));
}
