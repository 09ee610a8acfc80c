import { sha256 } from '@noble/hashes/sha2.js';
import { concat, equalText, fromBase64, fromHex, toBase64url } from '../base/bytes.ts';
import { badRequest } from '../base/error.ts';
import { isObject } from '../base/json.ts';
import { TEXT_CHARS_MAX } from '../constants.ts';

/** Bounds of a credential id: characters as base64url, and bytes. */
export const CREDENTIAL_ID_CHARS_MAX = 1364;
export const CREDENTIAL_ID_BYTES_MIN = 16;
export const CREDENTIAL_ID_BYTES_MAX = 1023;

/** A WebAuthn assertion (Web Authentication Level 3 section 5.2.2), its members base64url. */
export interface Assertion {
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
  readonly signature: string;
}

/** A P-256 public key by its coordinates, 32 bytes each. */
export interface P256PublicKey {
  readonly x: Uint8Array;
  readonly y: Uint8Array;
}

/** A stored key, 0x and x‖y in hex; undefined for any other text. */
export function publicKeyOf(key: string): P256PublicKey | undefined {
  const [x, y] = [fromHex(key.slice(2, 66)), fromHex(key.slice(66))];
  return x && y ? { x, y } : undefined;
}

/** The coordinates of a stored key as numbers. */
export function coordinatesOf(key: string): { readonly x: bigint; readonly y: bigint } {
  return { x: BigInt(key.slice(0, 66)), y: BigInt(`0x${key.slice(66)}`) };
}

/** The assertion in a request's `proof`. Throws 400 `Invalid proof` for any other shape. */
export function assertionOf(value: unknown): Assertion {
  const record = isObject(value) ? value : {};
  const member = (name: string): string => {
    const text = record[name];
    if (typeof text !== 'string' || text.length > 4 * TEXT_CHARS_MAX || !fromBase64(text)?.length)
      throw badRequest('Invalid proof');
    return text;
  };
  return {
    authenticatorData: member('authenticatorData'),
    clientDataJSON: member('clientDataJSON'),
    signature: member('signature'),
  };
}

/**
 * Whether the key signed the challenge with a user present (Web Authentication Level 3 section 7.2, steps 11–21). The
 * RP ID is not checked: clients live on many origins, and the challenge itself names what is consented to.
 */
export async function verifyAssertion(
  assertion: Assertion,
  challenge: Uint8Array,
  key: P256PublicKey,
): Promise<boolean> {
  const authenticatorData = fromBase64(assertion.authenticatorData);
  const clientData = fromBase64(assertion.clientDataJSON);
  const signature = rawSignatureOf(assertion);
  if (!authenticatorData || authenticatorData.length < 37 || !clientData || !signature) return false;
  if (((authenticatorData[32] ?? 0) & USER_PRESENT) === 0 || !namesChallenge(clientData, challenge)) return false;
  const point = concat(Uint8Array.of(4), key.x, key.y);
  try {
    const imported = await crypto.subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'P-256' }, false, [
      'verify',
    ]);
    const signed = concat(authenticatorData, sha256(clientData));
    return await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, imported, signature, signed);
  } catch {
    // A point that is not on the curve is not a key.
    return false;
  }
}

const USER_PRESENT = 0x01;

function namesChallenge(clientData: Uint8Array, challenge: Uint8Array): boolean {
  try {
    const { type, challenge: named } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(clientData));
    return type === 'webauthn.get' && typeof named === 'string' && equalText(named, toBase64url(challenge));
  } catch {
    return false;
  }
}

/**
 * r‖s (64 bytes) of an assertion's DER signature, or undefined for any but the canonical encoding (ITU-T X.690 section
 * 8.3).
 */
export function rawSignatureOf({ signature }: Pick<Assertion, 'signature'>): Uint8Array<ArrayBuffer> | undefined {
  const der = fromBase64(signature);
  if (der?.[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const r = readInteger(der, 2);
  const s = r && readInteger(der, r.end);
  return s && s.end === der.length ? concat(r.bytes, s.bytes) : undefined;
}

/** A positive integer of at most 32 bytes at `start`, left-padded, and where it ends. */
function readInteger(der: Uint8Array, start: number): { bytes: Uint8Array; end: number } | undefined {
  const length = der[start + 1] ?? 0;
  const end = start + 2 + length;
  const value = der.subarray(start + 2, end);
  const first = value[0] ?? 0x80;
  const padded = first === 0 && ((value[1] ?? 0) & 0x80) !== 0;
  if (der[start] !== 0x02 || end > der.length || first & 0x80 || (first === 0 && length > 1 && !padded))
    return undefined;
  const digits = padded ? value.subarray(1) : value;
  return digits.length > 32 ? undefined : { bytes: concat(new Uint8Array(32 - digits.length), digits), end };
}

/**
 * A credential id in canonical form, base64url without padding (`PublicKeyCredential.id`). Accepts padded and
 * standard base64. Throws 400 `Invalid credentialId`.
 */
export function parseCredentialId(text: string): string {
  const canonical = isCanonical(text) ? text : canonicalOf(text);
  const bytes = canonical === undefined ? 0 : Math.floor((canonical.length * 3) / 4);
  if (canonical === undefined || bytes < CREDENTIAL_ID_BYTES_MIN || bytes > CREDENTIAL_ID_BYTES_MAX) {
    throw badRequest('Invalid credentialId');
  }
  return canonical;
}

/** Base64url whose last character holds no bits past the last byte, as browsers send it; checked without decoding. */
function isCanonical(text: string): boolean {
  return /^(?:[\w-]{4})*(?:[\w-]{4}|[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])$/.test(text);
}

function canonicalOf(text: string): string | undefined {
  const bytes = text.length <= CREDENTIAL_ID_CHARS_MAX ? fromBase64(text) : undefined;
  return bytes && toBase64url(bytes);
}
