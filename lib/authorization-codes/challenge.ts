import { sha256 } from '@noble/hashes/sha2.js';
import { toBase64url, utf8 } from '../base/bytes.ts';

/** The request that a code is issued for: an app, its redirect URI and its code challenge (RFC 7636). */
export interface CodeRequest {
  /** A name of `APPS`, or the URL of a client's document. */
  readonly clientId: string;
  readonly redirectUri: string;
  /** Null where the client may omit PKCE and does. */
  readonly codeChallenge: string | null;
}

/** The form of a code challenge by the method S256: base64url of 32 bytes. */
export const CODE_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
/** The form of a code verifier (RFC 7636 section 4.1). */
export const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * The lines that a passkey signs, followed by the nonce, to let an app have a code. `request` is the query of the
 * page's address: app, URI, code challenge, state and all.
 */
export function authorizationLines(registrarDid: string, request: string): readonly string[] {
  return ['vault/authorize/v2', registrarDid, toBase64url(sha256(utf8(request)))];
}

/** The code challenge of a verifier, by the method S256. */
export function challengeOfVerifier(verifier: string): string {
  return toBase64url(sha256(utf8(verifier)));
}
