// The terms of a payment, as a stranger gives them.
import { checksum } from '../../client/checksum.ts';
import type { Hex } from '../../client/wallet/bytes.ts';

/**
 * An address in lower case; undefined for anything else. EIP-55: mixed case is a checksum, a single case is not, and
 * one whose checksum is wrong is `misspelt`.
 */
export function addressIn(value: unknown, keccak256: (bytes: Uint8Array) => Uint8Array): Hex | 'misspelt' | undefined {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) return undefined;
  const digits = value.slice(2);
  const lower = digits.toLowerCase();
  const isMixed = digits !== lower && digits !== digits.toUpperCase();
  return isMixed && checksum(lower, keccak256) !== value ? 'misspelt' : `0x${lower}`;
}

/**
 * An amount of a token's smallest unit, above 0. Text, because a JSON number would lose its last digits; decimal,
 * because hex would be ambiguous.
 */
export function unitsIn(value: unknown): bigint | undefined {
  if (typeof value !== 'string' || !/^[1-9]\d{0,77}$/.test(value)) return undefined;
  const amount = BigInt(value);
  return amount < 2n ** 256n ? amount : undefined;
}

/** The number of a chain, as a number or a decimal text. */
export function chainIn(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value);
  const id = isText ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}
