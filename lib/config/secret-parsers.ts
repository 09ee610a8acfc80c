import { fromBase64, fromHex } from '../base/bytes.ts';
import { parsed } from './parsers.ts';

/** The least bytes of a root secret, and the least distinct ones. */
export const SECRET_BYTES_MIN = 32;
const SECRET_DISTINCT_BYTES_MIN = 8;

/** The most secrets of a webhook, so that one can be rotated. */
export const WEBHOOK_SECRETS_MAX = 4;

/** How to make the keys of a webhook. */
export const WEBHOOK_SECRET_REMEDY = 'make one with: echo "whsec_$(openssl rand -base64 32)"';

/** How to make a secret that replicas share. */
export const SHARED_SECRET_REMEDY =
  'use the same 32 random bytes on every replica, made once with: openssl rand -hex 32';

// Parsers of secrets. Their messages describe the format and never contain the text.

const SECRET_EXAMPLE = 'for instance from: openssl rand -hex 32';
const SECRET_FORMAT = `at least ${SECRET_BYTES_MIN} random bytes in hex or base64url, ${SECRET_EXAMPLE}`;

/** Bytes of hex (hex digits only, even length), else of base64url; refused if too short or plainly not random. */
export const secretBytes = parsed(`must be ${SECRET_FORMAT}`, parseSecret);

/** The same check for a secret that callers send as text; the text is kept. */
export const secretText = parsed(`must be ${SECRET_FORMAT}`, (given) => (parseSecret(given) ? given : undefined));

/** A comma list of one to `max` secrets, as bytes. */
export const secrets = (max: number) =>
  parsed(`must be one to ${max} keys with commas between, each ${SECRET_FORMAT}`, (given) => {
    const keys = given.split(',').map((entry) => parseSecret(entry.trim()));
    return keys.length <= max && keys.every((key) => key !== undefined) ? keys : undefined;
  });

/** A token of at least `min` visible ASCII characters. */
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

/** A comma list of Standard Webhooks symmetric keys, as bytes: the current one first. */
export const webhookSecrets = (max: number) =>
  parsed(`must be one to ${max} keys with commas between, each whsec_ and 24 to 64 bytes in base64`, (given) => {
    const keys = given.split(',').map((entry) => parseWebhookSecret(entry.trim()));
    return keys.length <= max && keys.every((key) => key !== undefined) ? keys : undefined;
  });

/** A private key in PEM, whose lines may also be separated by blanks or by `\\n`; the mailer judges its kind. */
export const pemKey = parsed('must be a private key in PEM', (given) => {
  const [, label = '', body = ''] = /^-----BEGIN ((?:RSA )?PRIVATE KEY)-----(.+)-----END \1-----$/.exec(given) ?? [];
  const base64 = body.replace(/\\n|\s/g, '');
  if (!/^[A-Za-z0-9+/]{200,8000}={0,2}$/.test(base64)) return undefined;
  const lines = base64.match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
});

/** The bytes of a secret's text, undefined when it is not a secret. */
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
