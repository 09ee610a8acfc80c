import * as v from 'valibot';
import { Address, about, Did, Seconds, words } from './common.ts';

/** The tokens that a code is exchanged for. */
export const Tokens = v.object({
  access_token: about(v.string(), 'For `/userinfo` of 43 characters; for a `resource` a JWT (RFC 9068)'),
  token_type: v.literal('Bearer'),
  expires_in: Seconds,
  scope: v.optional(v.string()),
  id_token: v.optional(about(v.string(), 'A JWT: RS256, by a key of `/jwks`; where `openid` was asked for')),
});

/** The claims of a person: those of the granted scopes that are proven now. */
export const UserInfo = v.object({
  sub: v.pipe(v.string(), v.regex(/^[\w-]{43}$/)),
  email: v.optional(v.string()),
  email_verified: v.optional(v.literal(true)),
  email_verified_at: v.optional(v.number()),
  phone_number: v.optional(v.string()),
  phone_number_verified: v.optional(v.literal(true)),
  phone_number_verified_at: v.optional(v.number()),
  preferred_username: v.optional(v.string()),
  did: v.optional(Did),
  account: v.optional(Address),
  status: v.optional(words('submitted', 'confirmed')),
  final: v.optional(v.boolean()),
  proofs: v.optional(
    v.object({
      identifier: v.nullable(words('attestation', 'alias')),
      controller: v.nullable(v.literal('passkey')),
      did: v.nullable(words('address', 'moved')),
    }),
  ),
});

/** Public keys. */
export const Jwks = v.object({
  keys: v.array(
    v.object({
      kty: v.literal('RSA'),
      n: v.string(),
      e: v.string(),
      kid: v.string(),
      use: v.literal('sig'),
      alg: v.literal('RS256'),
    }),
  ),
});

/** The metadata of the authorization server. */
export const ServerMetadata = v.looseObject({
  issuer: v.string(),
  authorization_endpoint: v.string(),
  token_endpoint: v.string(),
  jwks_uri: v.string(),
});

/** The metadata of the provider. */
export const ProviderMetadata = v.looseObject({ ...ServerMetadata.entries, userinfo_endpoint: v.string() });
