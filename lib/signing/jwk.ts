// Public keys as JWK (RFC 7517), and their thumbprints.
import { sha256 } from '@noble/hashes/sha2.js';
import { toBase64url, utf8 } from '../base/bytes.ts';

/** A public key by the members that RFC 7638 and RFC 8037 count, and no other. */
export type BareJwk =
  | { readonly kty: 'RSA'; readonly n: string; readonly e: string }
  | { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string }
  | { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string };

/** The thumbprint of a key (RFC 7638 section 3): SHA-256 of its members in the order of their names, base64url. */
export function thumbprintOf(jwk: BareJwk): string {
  const members = Object.entries(jwk).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return toBase64url(sha256(utf8(JSON.stringify(Object.fromEntries(members)))));
}
