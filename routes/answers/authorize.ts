import * as v from 'valibot';
import { Seconds } from './common.ts';

/** A code for an app; `iss` goes back to the app with it. */
export const AuthorizationCode = v.object({
  code: v.pipe(v.string(), v.regex(/^[\w-]{43}$/)),
  iss: v.string(),
  expires_in: Seconds,
});

/** Where the browser goes, with an answer for the app. */
export const AuthorizationLocation = v.object({ location: v.string() });

/** A nonce for a passkey to sign. */
export const FreshNonce = v.object({
  nonce: v.pipe(v.string(), v.regex(/^[\w-]{48}$/)),
  expires_in: Seconds,
});
