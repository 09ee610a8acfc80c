/** `/jwks`: the public halves of the keys that sign ID tokens. */
import { VaultError } from '../lib/base/error.ts';
import { publishedKeys } from '../lib/signing/signing-keys.ts';
import { Jwks } from './answers/openid.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/** The key set (RFC 7517). */
export const jwksRoutes = [
  get('/jwks', {
    summary: 'The public keys of ID tokens',
    answers: { 200: Jwks },
    errors: ['not_found'],
    isPage: true,
    async handler({ ctx }) {
      if (!ctx.clients) throw new VaultError('not_found');
      return json(
        { keys: await publishedKeys(ctx, 'RS256') },
        { headers: { 'cache-control': 'public, max-age=3600' } },
      );
    },
  }),
] as const satisfies readonly Route[];
