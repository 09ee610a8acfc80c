// Access tokens for servers of the operator's apps (RFC 9068): a server judges them by `/jwks` alone.
import type { AccessGrant } from '../authorization-codes/access-token.ts';
import { toBase64url } from '../base/bytes.ts';
import { VaultError } from '../base/error.ts';
import { type Client, findResource, type Resource } from '../clients/client.ts';
import type { SigningContext } from '../signing/signing-keys.ts';
import { ACR, amrOf, signClaims } from './id-token.ts';
import { type SubjectContext, subjectOf } from './subject.ts';

/** How long such a token is good. Nobody asks the vault about it, so nothing ends it before. */
export const RESOURCE_TOKEN_SECONDS = 600;

/**
 * The server that a code gives a token for; undefined where the token is one of `/userinfo`. `asked` is `resource` at
 * `/token` (RFC 8707 section 2.2). Throws 400 `invalid_target` for another server than the code is for.
 */
export function resourceOf(
  client: Client,
  { resource }: Pick<AccessGrant, 'resource'>,
  asked: string | undefined,
): Resource | undefined {
  const found = resource === null ? undefined : findResource(client, resource);
  const isOther = asked !== undefined && (!found || findResource(client, asked) !== found);
  if (isOther || (resource !== null && !found)) throw new VaultError('invalid_target');
  return found;
}

/** A token that identifies the person and the client to the server, with the granted scopes. */
export async function signResourceToken(
  ctx: SigningContext & SubjectContext,
  client: Client,
  resource: Resource,
  { did, scope, verifiedAt, amr }: AccessGrant,
): Promise<string> {
  const { config, clock, random } = ctx;
  const issuedAt = Math.floor(clock.now() / 1000);
  const granted = resource.scopes.filter((one) => scope.split(' ').includes(one));
  const claims = {
    iss: config.baseUrl,
    sub: await subjectOf(ctx, resource, did),
    aud: resource.url,
    client_id: client.id,
    iat: issuedAt,
    exp: issuedAt + RESOURCE_TOKEN_SECONDS,
    jti: toBase64url(random(16)),
    auth_time: Math.floor(verifiedAt / 1000),
    acr: ACR,
    amr: amrOf(amr),
    ...(granted.length > 0 ? { scope: granted.join(' ') } : {}),
  };
  return signClaims(ctx, claims, 'at+jwt');
}
