import { fromBase64, fromHex } from '../base/bytes.ts';
import { parsed } from './parsers.ts';

/** A root secret: its bytes, and how many of them differ. */
export const SECRET_BYTES_MIN = 32;
const SECRET_DISTINCT_BYTES_MIN = 8;

// Forms of settings that are secrets. How a secret looks is said, what was given never.

const SECRET_FORM = `at least ${SECRET_BYTES_MIN} random bytes in hex or base64url, for instance from: openssl rand -hex 32`;

/** Bytes of hex (hex digits only, even length), else of base64url; too few or too plainly not random ones are refused. */
export const secretBytes = parsed(`must be ${SECRET_FORM}`, parseSecret);

/** The same rule for a secret that callers present as it is written. */
export const secretText = parsed(`must be ${SECRET_FORM}`, (given) => (parseSecret(given) ? given : undefined));

/** Up to `max` secrets behind each other. */
export const secrets = (max: number) =>
  parsed(`must be one to ${max} keys with commas between, each ${SECRET_FORM}`, (given) => {
    const keys = given.split(',').map((entry) => parseSecret(entry.trim()));
    return keys.length <= max && keys.every((key) => key !== undefined) ? keys : undefined;
  });

/** A token of visible ASCII characters. */
export const token = (min: number) =>
  parsed(`must be ${min > 1 ? `at least ${min} ` : ''}visible ASCII characters without spaces`, (given) =>
    given.length >= min && /^[\x21-\x7e]+$/.test(given) ? given : undefined,
  );

/** A secp256k1 private key as 0x-hex. */
export const privateKey = parsed('must be a secp256k1 private key: 64 hex digits, with or without 0x', (given) => {
  const hex = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(given)?.[1]?.toLowerCase();
  if (hex === undefined) return undefined;
  const inRange = BigInt(`0x${hex}`) > 0n && BigInt(`0x${hex}`) < SECP256K1_ORDER;
  return inRange ? (`0x${hex}` as const) : undefined;
});

/** Standard Webhooks symmetric keys behind each other, as bytes: the current one first. */
export const webhookSecrets = (max: number) =>
  parsed(`must be one to ${max} keys with commas between, each whsec_ and 24 to 64 bytes in base64`, (given) => {
    const keys = given.split(',').map((entry) => parseWebhookSecret(entry.trim()));
    return keys.length <= max && keys.every((key) => key !== undefined) ? keys : undefined;
  });

/** The bytes of a secret's text, undefined when it is none. */
export function parseSecret(given: string): Uint8Array | undefined {
  const bytes = fromHex(given) ?? fromBase64(given);
  const strong = bytes && bytes.length >= SECRET_BYTES_MIN && new Set(bytes).size >= SECRET_DISTINCT_BYTES_MIN;
  return strong ? bytes : undefined;
}

function parseWebhookSecret(given: string): Uint8Array | undefined {
  const bytes = given.startsWith('whsec_') ? fromBase64(given.slice('whsec_'.length)) : undefined;
  return bytes && bytes.length >= 24 && bytes.length <= 64 ? bytes : undefined;
}

/** The order of secp256k1 (SEC 2 section 2.4.1). */
const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
