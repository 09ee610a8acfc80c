import * as v from 'valibot';
import { VaultError } from '../lib/base/error.ts';
import { findAccount, findAlias, findDidByHash, readIndexerHealth, readStatistics } from '../lib/indexer/queries.ts';
import { addressText } from './fields.ts';
import { required } from './http/fields.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

const hashText = v.pipe(
  v.string('Invalid hash: expected 32-byte hash'),
  v.regex(/^0x[0-9a-fA-F]{64}$/, 'Invalid hash: expected 32-byte hash'),
  v.toLowerCase(),
);

/** What the chain's events tell of aliases, DIDs and accounts; these paths with these parameters, and nothing else. */
export const indexerRoutes: readonly Route[] = [
  get('/api/indexer/aliases', {
    limit: 'proxy',
    prepare: only('hash'),
    fields: { hash: required(hashText) },
    handler: async ({ ctx, input }) => json(await findAlias(ctx, input.hash)),
  }),

  get('/api/indexer/dids', {
    limit: 'proxy',
    prepare: only('hash'),
    fields: { hash: required(hashText) },
    handler: async ({ ctx, input }) => json(await findDidByHash(ctx, input.hash)),
  }),

  get('/api/indexer/accounts', {
    limit: 'proxy',
    prepare: only('address'),
    fields: { address: required(addressText('address')) },
    handler: async ({ ctx, input }) => json(await findAccount(ctx, input.address)),
  }),

  get('/api/indexer/stats', {
    limit: 'proxy',
    prepare: only(),
    handler: async ({ ctx }) => json(await readStatistics(ctx)),
  }),

  get('/api/indexer/health', {
    limit: 'proxy',
    prepare: only(),
    handler: async ({ ctx }) => json(await readIndexerHealth(ctx)),
  }),

  get('/api/indexer/:path+', {
    handler() {
      throw new VaultError('path_not_allowed');
    },
  }),
];

/** Refuses every parameter but the named ones. */
function only(...names: readonly string[]) {
  return (query: Readonly<Record<string, unknown>>) => {
    if (Object.keys(query).some((name) => !names.includes(name))) throw new VaultError('path_not_allowed');
    return query;
  };
}
