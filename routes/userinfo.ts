/** `/userinfo`: the claims of an access token, as they are now. */
import { VaultError } from '../lib/base/error.ts';
import { openToken, readClaims } from '../lib/openid/tokens.ts';
import { UserInfo } from './answers/openid.ts';
import { demandClientOrigin } from './http/origin.ts';
import { json, type Reply } from './http/response.ts';
import { type Incoming, type Limits, PLAIN_POST, type Route } from './http/route.ts';

const COMMON = {
  path: '/userinfo',
  answers: { 200: UserInfo },
  errors: ['not_found', 'invalid_token', 'origin_not_allowed', 'rate_limited', 'rpc_error'],
  fields: {},
  otherFields: undefined,
  isPage: false,
  isIdempotent: false,
  limit: undefined,
  security: 'access',
  isOAuth: true,
  handle: userInfo,
} as const;

/** The UserInfo endpoint (OpenID Connect Core section 5.3), by `Authorization: Bearer` alone. */
export const userinfoRoutes = [
  { ...COMMON, method: 'GET', body: undefined, summary: 'The claims of an access token' },
  { ...PLAIN_POST, ...COMMON, method: 'POST', body: undefined, summary: 'The same; the body is not read' },
] as const satisfies readonly Route[];

async function userInfo({ ctx, request, client: caller }: Incoming, limits: Limits): Promise<Reply> {
  const { clients, config } = ctx;
  if (!clients) throw new VaultError('not_found');
  let isCounted = false;
  try {
    const token = await openToken(ctx, clients, request.headers.get('authorization'));
    demandClientOrigin(config, request, token.client);
    isCounted = true;
    limits.app(token.client.id);
    return json(await readClaims(ctx, token));
  } catch (error) {
    if (!isCounted && error instanceof VaultError) limits.reads(caller);
    throw error;
  }
}
