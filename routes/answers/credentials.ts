import * as v from 'valibot';
import { about, Time } from './common.ts';

/** A credential by a passkey. */
export const CredentialIssued = v.object({
  ok: v.literal(true),
  credential: about(v.string(), 'An SD-JWT VC: the token, `~`, and each hidden claim with a `~`'),
  expires_at: about(Time, 'Its end'),
});

/** The issuer of credentials, with its keys (draft-ietf-oauth-sd-jwt-vc section 3). */
export const CredentialIssuer = v.object({
  issuer: about(v.string(), '`iss` of its credentials'),
  jwks: v.object({
    keys: v.array(
      v.object({
        kty: v.literal('EC'),
        crv: v.literal('P-256'),
        x: v.string(),
        y: v.string(),
        kid: about(v.string(), 'The thumbprint of the key (RFC 7638)'),
        use: v.literal('sig'),
        alg: v.literal('ES256'),
      }),
    ),
  }),
});

/** The metadata of a type of credentials (draft-ietf-oauth-sd-jwt-vc section 4). */
export const CredentialType = v.object({
  vct: v.string(),
  name: v.string(),
  description: v.string(),
  display: v.array(v.object({ locale: v.string(), name: v.string(), description: v.string() })),
  claims: v.array(
    v.object({
      path: v.array(v.string()),
      sd: about(v.picklist(['always', 'never']), 'Whether the holder may show it or not'),
    }),
  ),
});
