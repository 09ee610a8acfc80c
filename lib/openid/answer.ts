import type { AuthorizationError, ReturnPlace } from './judge.ts';

/** The answer to the client: a code, or an error (RFC 6749 section 4.1.2.1). */
export type AuthorizationAnswer =
  | { readonly code: string }
  | { readonly error: AuthorizationError; readonly error_description: string };

/**
 * The redirect URI with the answer, the state, and the issuer (RFC 9207). URI and state are the client's own text, and
 * stay as they are.
 */
export function answerLocation(
  issuer: string,
  { redirectUri, rawState }: ReturnPlace,
  answer: AuthorizationAnswer,
): string {
  const pairs = [
    ...Object.entries(answer).map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
    ...(rawState === undefined ? [] : [`state=${rawState}`]),
    `iss=${encodeURIComponent(issuer)}`,
  ];
  const joint = redirectUri.includes('?') ? (/[?&]$/.test(redirectUri) ? '' : '&') : '?';
  return redirectUri + joint + pairs.join('&');
}
