import * as v from 'valibot';
import { Address, about, Did, Hash, Seconds, Time, words } from './common.ts';

/** Where the browser goes, with an answer for the app. */
export const AuthorizationLocation = v.object({ location: v.string() });

/** A nonce for a passkey to sign. */
export const FreshNonce = v.object({
  nonce: v.pipe(v.string(), v.regex(/^[\w-]{48}$/)),
  expires_in: Seconds,
});

/** The person's choice before there is a code: which address the app gets, or none. */
export const AddressChoice = v.object({
  channels: about(v.array(words('email', 'sms')), 'Those that the app asks for'),
  addresses: about(
    v.array(
      v.object({
        identifier: v.string(),
        channel: words('email', 'sms'),
        moves_at: about(
          v.nullable(Time),
          'When it moves to this person, at the earliest, while another account holds it',
        ),
      }),
    ),
    'Those of the person, the oldest first',
  ),
  did: Did,
  smartAccount: Address,
  pubKeyX: Hash,
  pubKeyY: Hash,
});

/** The configuration of the sign-in page. */
export const AuthorizeConfig = v.object({
  issuer: about(v.string(), "The vault's origin, `iss` of its answers"),
  rpId: v.string(),
  registrar: Did,
  channels: v.array(words('email', 'sms')),
  moveHours: about(v.number(), 'ADDRESS_MOVE_HOURS'),
  recovers: about(v.boolean(), 'Whether accounts can be recovered by mail'),
  tokenNonce: about(
    v.nullable(v.string()),
    "A nonce for the browser's email token, once and for this client; null where none is taken",
  ),
  full: about(
    v.nullable(v.object({ error: words('ip_limit_reached', 'relay_limit_reached'), retry_after: v.nullable(Seconds) })),
    "The error that refuses new accounts for the caller's network now",
  ),
});
