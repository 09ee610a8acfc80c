import { fromBase64, toBase64url } from '../base/bytes.ts';
import { badRequest } from '../base/error.ts';
import { CREDENTIAL_ID_BYTES_MAX, CREDENTIAL_ID_BYTES_MIN, CREDENTIAL_ID_CHARS_MAX } from '../constants.ts';

/** A WebAuthn credential id in its canonical form, base64url without padding (`PublicKeyCredential.id`). Padded and standard base64 are accepted. Throws 400 `Invalid credentialId`. */
export function parseCredentialId(text: string): string {
  const canonical = isCanonical(text) ? text : canonicalOf(text);
  const bytes = canonical === undefined ? 0 : Math.floor((canonical.length * 3) / 4);
  if (canonical === undefined || bytes < CREDENTIAL_ID_BYTES_MIN || bytes > CREDENTIAL_ID_BYTES_MAX) {
    throw badRequest('Invalid credentialId');
  }
  return canonical;
}

/** Base64url whose last character holds no bits past the last byte: what browsers send, told without decoding it. */
function isCanonical(text: string): boolean {
  return /^(?:[\w-]{4})*(?:[\w-]{4}|[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])$/.test(text);
}

function canonicalOf(text: string): string | undefined {
  const bytes = text.length <= CREDENTIAL_ID_CHARS_MAX ? fromBase64(text) : undefined;
  return bytes && toBase64url(bytes);
}
