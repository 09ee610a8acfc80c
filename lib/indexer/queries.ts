import * as v from 'valibot';
import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import type { Row } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { selectAccount, selectAlias, selectDid, selectStatistics } from './event-store.ts';
import { selectPosition, toPosition } from './follower-store.ts';
import type { AskIndexer } from './graphql-client.ts';

/** The follower is healthy while its last poll is younger than this. */
export const FOLLOWER_SILENT_MS = MINUTE_MS;
/** The follower is healthy while it is at most this many blocks behind the head. */
export const FOLLOWER_BEHIND_BLOCKS = 150;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db'> & { readonly askIndexer: AskIndexer | undefined };

// The shapes of the answers (completions section 8). Those of an upstream are cut to them, so that both modes answer
// alike.

const hash = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{64}$/), v.toLowerCase());
const address = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/), v.toLowerCase());
const digits = v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.regex(/^\d{1,16}$/));
const count = v.pipe(digits, v.transform(Number));
const cid = v.pipe(
  v.nullable(v.string()),
  v.transform((text) => text ?? ''),
);

function findable<E extends v.ObjectEntries>(entries: E) {
  return v.union([v.object({ found: v.literal(true), ...entries }), v.object({ found: v.literal(false) })]);
}

const alias = findable({ alias_hash: hash, did_hash: hash, active: v.boolean(), controller: v.nullable(address) });
const did = findable({
  did_hash: hash,
  controller: address,
  metadata_cid: cid,
  active: v.boolean(),
  block_number: digits,
  tx_hash: hash,
});
const account = findable({ account_address: address, owner_address: address, block_number: digits, tx_hash: hash });
const statistics = v.object({
  total_dids: count,
  active_dids: count,
  total_aliases: count,
  total_accounts: count,
  last_block_number: digits,
});
const health = v.object({ ok: v.boolean(), chain: count });

/**
 * The DID of an alias, by the alias hash. Throws 502 `indexer_error` and 504 `indexer_timeout`, as do all queries here.
 */
export function findAlias(ctx: Ctx, aliasHash: string): Promise<v.InferOutput<typeof alias>> {
  return answer(ctx, ['aliases', { hash: aliasHash }], alias, async () => {
    const [row] = await ctx.db.read(selectAlias(aliasHash));
    if (!row) return { found: false };
    return {
      found: true,
      alias_hash: aliasHash,
      did_hash: row['did_hash'] as string,
      active: row['active'] === 1,
      controller: row['controller'] as string | null,
    };
  });
}

/** A registered DID, by its hash. */
export function findDidByHash(ctx: Ctx, didHash: string): Promise<v.InferOutput<typeof did>> {
  return answer(ctx, ['dids', { hash: didHash }], did, async () => {
    const [row] = await ctx.db.read(selectDid(didHash));
    if (!row) return { found: false };
    return {
      found: true,
      did_hash: didHash,
      controller: row['controller'] as string,
      metadata_cid: row['metadata_cid'] as string,
      active: row['active'] === 1,
      ...minedIn(row),
    };
  });
}

/** An account created by the factory, by its address. */
export function findAccount(ctx: Ctx, accountAddress: string): Promise<v.InferOutput<typeof account>> {
  return answer(ctx, ['accounts', { address: accountAddress }], account, async () => {
    const [row] = await ctx.db.read(selectAccount(accountAddress));
    if (!row) return { found: false };
    return {
      found: true,
      account_address: accountAddress,
      owner_address: row['owner'] as string,
      ...minedIn(row),
    };
  });
}

/** Counts of DIDs, aliases and accounts up to the last block read. */
export function readStatistics(ctx: Ctx): Promise<v.InferOutput<typeof statistics>> {
  return answer(ctx, ['stats', {}], statistics, async () => {
    const [row = {}] = await ctx.db.read(selectStatistics());
    const number = (name: string) => Number(row[name] ?? 0);
    return {
      total_dids: number('dids'),
      // Negative if the follower's start block is after registrations that were deactivated later.
      active_dids: Math.max(0, number('dids') - number('deactivated')),
      total_aliases: number('aliases'),
      total_accounts: number('accounts'),
      last_block_number: String(number('block')),
    };
  });
}

/** Whether answers are up to date: the last poll and the lag are within the bounds above. */
export function readIndexerHealth(ctx: Ctx): Promise<v.InferOutput<typeof health>> {
  return answer(ctx, ['health', {}], health, async () => {
    const state = await readFollower(ctx);
    const ok = state !== undefined && state.silentMs < FOLLOWER_SILENT_MS && state.lag <= FOLLOWER_BEHIND_BLOCKS;
    return { ok, chain: ctx.config.chainId };
  });
}

/**
 * The state of the follower of any process: last block read, blocks behind the head, milliseconds since its last poll.
 * Undefined if none has run.
 */
export async function readFollower({
  clock,
  db,
}: Pick<Platform, 'clock' | 'db'>): Promise<{ block: number; lag: number; silentMs: number } | undefined> {
  const [row] = await db.read(selectPosition());
  if (!row) return undefined;
  const { block, head, seenAt } = toPosition(row);
  return { block, lag: Math.max(0, head - block), silentMs: clock.now() - seenAt };
}

async function answer<T>(
  { askIndexer }: Ctx,
  question: Parameters<NonNullable<Ctx['askIndexer']>>,
  schema: v.GenericSchema<unknown, T>,
  readOwn: () => Promise<T>,
): Promise<T> {
  if (!askIndexer) return readOwn();
  const result = v.safeParse(schema, await askIndexer(...question));
  if (!result.success) throw new VaultError('indexer_error', { cause: new UpstreamError('malformed') });
  return result.output;
}

function minedIn(row: Row): { block_number: string; tx_hash: string } {
  return { block_number: String(row['block']), tx_hash: row['tx_hash'] as string };
}
