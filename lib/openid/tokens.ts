// The exchange of a code for tokens (RFC 6749 section 4.1.3), and the claims that an access token reads.
import { type AccessGrant, findAccessToken } from '../authorization-codes/access-token.ts';
import { digestOf } from '../authorization-codes/authorize.ts';
import { type ExchangeContext, type Exchanged, exchangeCode } from '../authorization-codes/exchange.ts';
import { toBase64url } from '../base/bytes.ts';
import { VaultError } from '../base/error.ts';
import type { Client, Clients, Resource } from '../clients/client.ts';
import { readIdentity } from '../registration/proven-identity.ts';
import type { SigningContext } from '../signing/signing-keys.ts';
import { invalidRequest } from './authenticate.ts';
import { type Claims, claimsOf } from './claims.ts';
import { ACR, accessTokenHash, amrOf, signClaims } from './id-token.ts';
import type { Parameters } from './parameters.ts';
import { RESOURCE_TOKEN_SECONDS, resourceOf, signResourceToken } from './resource-token.ts';
import { knownScopes } from './scopes.ts';
import { type SubjectContext, subjectOf } from './subject.ts';

/** The answer of `/token` (RFC 6749 section 5.1, OpenID Connect Core section 3.1.3.3). */
export interface Tokens {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  /** Absent where nothing was granted by name. */
  readonly scope?: string;
  /** Absent where the request did not ask for `openid`. */
  readonly id_token?: string;
}

type Ctx = ExchangeContext & SigningContext & SubjectContext;

/**
 * Exchanges a code for the client that has authenticated. Throws 400 `invalid_request`, `unsupported_grant_type`,
 * `invalid_target`, `invalid_grant` with its reason, 502 `rpc_error`.
 */
export async function exchangeForTokens(ctx: Ctx, client: Client, form: Parameters): Promise<Tokens> {
  const { config, clock, random } = ctx;
  const need = (name: string) => {
    const text = form.value(name);
    if (text === undefined) throw invalidRequest(`${name} is missing.`);
    return text;
  };
  if (need('grant_type') !== 'authorization_code') throw new VaultError('unsupported_grant_type');
  const asked = form.value('resource');
  const opaque = toBase64url(random(32));
  const until = clock.now() + config.idTokenSeconds * 1000;
  const { code, identity } = await exchangeCode(ctx, {
    clientId: client.id,
    code: need('code'),
    redirectUri: need('redirect_uri'),
    codeVerifier: form.value('code_verifier'),
    grantFor: (code) => ({ token: resourceOf(client, code, asked) ? null : digestOf(opaque), until }),
  });
  const resource = resourceOf(client, code, asked);
  const access_token = resource ? await signResourceToken(ctx, client, resource, code) : opaque;
  return {
    access_token,
    token_type: 'Bearer',
    expires_in: resource ? RESOURCE_TOKEN_SECONDS : config.idTokenSeconds,
    ...(code.scope === '' ? {} : { scope: code.scope }),
    ...(knownScopes(code.scope).includes('openid')
      ? { id_token: await signIdToken(ctx, { client, resource }, { code, identity }, access_token) }
      : {}),
  };
}

async function signIdToken(
  ctx: Ctx,
  { client, resource }: { readonly client: Client; readonly resource: Resource | undefined },
  { code, identity }: Exchanged,
  accessToken: string,
): Promise<string> {
  const { config, clock } = ctx;
  const issuedAt = Math.floor(clock.now() / 1000);
  const claims: Claims = {
    iss: config.baseUrl,
    // A client with a document has no people of its own: they are who they are at the server.
    sub: await subjectOf(ctx, resource ?? client, identity.did),
    aud: client.id,
    iat: issuedAt,
    exp: issuedAt + config.idTokenSeconds,
    auth_time: Math.floor(code.verifiedAt / 1000),
    ...(code.nonce === null ? {} : { nonce: code.nonce }),
    acr: ACR,
    amr: amrOf(code.amr),
    at_hash: accessTokenHash(accessToken),
    // Many clients read the ID token alone; it does not travel through the browser's address.
    ...claimsOf(knownScopes(code.scope), identity, code.picked),
  };
  return signClaims(ctx, claims, 'JWT');
}

/** A valid access token: the code that it was given for, and its client. */
export interface OpenToken {
  readonly code: AccessGrant;
  readonly client: Client;
}

/** The access token of a Bearer header (RFC 6750 section 2.1). Throws 401 `invalid_token`. */
export async function openToken(ctx: Ctx, clients: Clients, authorization: string | null): Promise<OpenToken> {
  const { config } = ctx;
  const refusal = (error: string, hint?: string) => {
    const headers = { 'www-authenticate': `Bearer realm="${config.baseUrl}"${error}` };
    return new VaultError('invalid_token', { headers, ...(hint === undefined ? {} : { hint }) });
  };
  if (authorization === null) throw refusal('', 'Send the access token as Authorization: Bearer.');
  const token = /^Bearer +([\w-]{43})$/i.exec(authorization)?.[1];
  const code = token === undefined ? undefined : await findAccessToken(ctx, token);
  const client = code && clients.get(code.app);
  if (!code || !client) throw refusal(', error="invalid_token"');
  return { code, client };
}

/**
 * The present claims of an access token, without any that were lost or erased since. Throws 401 `invalid_token` where
 * the person is gone, 502 `rpc_error`.
 */
export async function readClaims(ctx: Ctx, { code, client }: OpenToken): Promise<Claims> {
  const identity = await readIdentity(ctx, code);
  if (!identity) {
    const headers = { 'www-authenticate': `Bearer realm="${ctx.config.baseUrl}", error="invalid_token"` };
    throw new VaultError('invalid_token', { headers });
  }
  const sub = await subjectOf(ctx, client, identity.did);
  return { sub, ...claimsOf(knownScopes(code.scope), identity, code.picked) };
}
