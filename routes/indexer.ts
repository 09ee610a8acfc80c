import * as v from 'valibot';
import { VaultError } from '../lib/base/error.ts';
import { findAccount, findAlias, findDidByHash, readIndexerHealth, readStatistics } from '../lib/indexer/queries.ts';
import { IndexedAccount, IndexedAlias, IndexedDid, IndexHealth, IndexStatistics } from './answers/chain.ts';
import { addressText } from './fields.ts';
import { required } from './http/fields.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

const hashText = v.pipe(
  v.string('Invalid hash: expected 32-byte hash'),
  v.regex(/^0x[0-9a-fA-F]{64}$/, 'Invalid hash: expected 32-byte hash'),
  v.toLowerCase(),
);

const INDEX_ERRORS = [
  'path_not_allowed',
  'indexer_error',
  'indexer_timeout',
  'indexer_not_configured',
  'indexer_behind',
] as const;
const CHAIN_ERRORS = [...INDEX_ERRORS, 'rpc_error'] as const;

/** Aliases, DIDs and accounts as the chain's events show them; these paths with these parameters, and no others. */
export const indexerRoutes = [
  get('/api/indexer/aliases', {
    summary: 'The DID of an alias, by its hash',
    answers: { 200: IndexedAlias },
    errors: CHAIN_ERRORS,
    example: { hash: '$ALIAS_HASH' },
    limit: 'proxy',
    prepare: only('hash'),
    fields: { hash: required(hashText) },
    handler: async ({ ctx, input }) => json(await findAlias(ctx, input.hash)),
  }),

  get('/api/indexer/dids', {
    summary: 'A DID of the registry, by its hash',
    answers: { 200: IndexedDid },
    errors: CHAIN_ERRORS,
    example: { hash: '$DID_HASH' },
    limit: 'proxy',
    prepare: only('hash'),
    fields: { hash: required(hashText) },
    handler: async ({ ctx, input }) => json(await findDidByHash(ctx, input.hash)),
  }),

  get('/api/indexer/accounts', {
    summary: 'An account that the factory made',
    answers: { 200: IndexedAccount },
    errors: CHAIN_ERRORS,
    limit: 'proxy',
    prepare: only('address'),
    fields: { address: required(addressText('address')) },
    handler: async ({ ctx, input }) => json(await findAccount(ctx, input.address)),
  }),

  get('/api/indexer/stats', {
    summary: 'How many DIDs, aliases and accounts there are',
    answers: { 200: IndexStatistics },
    errors: INDEX_ERRORS,
    limit: 'proxy',
    prepare: only(),
    handler: async ({ ctx }) => json(await readStatistics(ctx)),
  }),

  get('/api/indexer/health', {
    summary: 'Whether the index is up to date',
    answers: { 200: IndexHealth },
    errors: ['path_not_allowed', 'indexer_error', 'indexer_timeout'],
    limit: 'proxy',
    prepare: only(),
    handler: async ({ ctx }) => json(await readIndexerHealth(ctx)),
  }),

  get('/api/indexer/:path+', {
    summary: 'Refused: there is nothing else in the index',
    answers: {},
    errors: ['path_not_allowed'],
    handler() {
      throw new VaultError('path_not_allowed');
    },
  }),
] as const satisfies readonly Route[];

/** Refuses every parameter but the named ones. */
function only(...names: readonly string[]) {
  return (query: Readonly<Record<string, unknown>>) => {
    if (Object.keys(query).some((name) => !names.includes(name))) throw new VaultError('path_not_allowed');
    return query;
  };
}
