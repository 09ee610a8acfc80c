import { utf8 } from './bytes.ts';

/** An address (40 digits in lower case) with EIP-55's checksum. */
export function checksum(lower: string, keccak256: (bytes: Uint8Array) => Uint8Array): `0x${string}` {
  const hash = keccak256(utf8(lower));
  const isUpper = (i: number) => (((hash[i >> 1] ?? 0) >> (i % 2 === 0 ? 4 : 0)) & 15) >= 8;
  return `0x${Array.from(lower, (digit, i) => (isUpper(i) ? digit.toUpperCase() : digit)).join('')}`;
}
