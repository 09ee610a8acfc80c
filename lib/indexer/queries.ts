import type * as v from 'valibot';
import { INDEX_SILENT_MS, type IndexState, indexState } from '../aliases/aliases.ts';
import { VaultError } from '../base/error.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import type { Row } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { findAccountOnChain, findAliasOnChain, findDidOnChain } from './chain-reads.ts';
import { selectAccount, selectAlias, selectDid, selectStatistics } from './event-store.ts';
import { selectPosition, toPosition } from './follower-store.ts';
import { type AskIndexer, askForShape } from './graphql-client.ts';
import { accountShape, aliasShape, didShape, healthShape, statisticsShape } from './shapes.ts';

/** The follower is healthy while its last poll is younger than this. */
export const FOLLOWER_SILENT_MS = INDEX_SILENT_MS;
/** The follower is healthy while it is at most this many blocks behind the head; its first pass is over then. */
export const FOLLOWER_BEHIND_BLOCKS = 150;
/** When to ask again while the first pass is under way. */
const INDEX_RETRY_SECONDS = 10;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc'> & {
  readonly askIndexer: AskIndexer | undefined;
  readonly predict: PredictAddress;
};

// All queries but `readIndexerHealth` throw 503 `indexer_not_configured` or `indexer_behind` where neither index nor
// registry can answer, 502 `rpc_error` when the node cannot be asked, and with an INDEXER_URL 502 `indexer_error` and
// 504 `indexer_timeout`.

/** The DID of an alias, by the alias hash. */
export function findAlias(ctx: Ctx, aliasHash: string): Promise<v.InferOutput<typeof aliasShape>> {
  return answer(ctx, ['aliases', { hash: aliasHash }], aliasShape, {
    onChain: () => findAliasOnChain(ctx, aliasHash),
    async read() {
      const [row] = await ctx.db.read(selectAlias(aliasHash));
      if (!row) return { found: false };
      return {
        found: true,
        alias_hash: aliasHash,
        did_hash: row['did_hash'] as string,
        active: row['active'] === 1,
        controller: row['controller'] as string | null,
      };
    },
  });
}

/** A registered DID, by its hash. */
export function findDidByHash(ctx: Ctx, didHash: string): Promise<v.InferOutput<typeof didShape>> {
  return answer(ctx, ['dids', { hash: didHash }], didShape, {
    onChain: () => findDidOnChain(ctx, didHash),
    async read() {
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
    },
  });
}

/** An account created by the factory, by its address. */
export function findAccount(ctx: Ctx, accountAddress: string): Promise<v.InferOutput<typeof accountShape>> {
  return answer(ctx, ['accounts', { address: accountAddress }], accountShape, {
    onChain: () => findAccountOnChain(ctx, accountAddress),
    async read() {
      const [row] = await ctx.db.read(selectAccount(accountAddress));
      if (!row) return { found: false };
      return { found: true, account_address: accountAddress, owner_address: row['owner'] as string, ...minedIn(row) };
    },
  });
}

/** Counts of DIDs, aliases and accounts up to the last block read. */
export function readStatistics(ctx: Ctx): Promise<v.InferOutput<typeof statisticsShape>> {
  return answer(ctx, ['stats', {}], statisticsShape, {
    async read() {
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
    },
  });
}

/** Whether answers are up to date: the last poll and the lag are within the bounds above. */
export async function readIndexerHealth(ctx: Ctx): Promise<v.InferOutput<typeof healthShape>> {
  if (ctx.askIndexer) return askForShape(ctx.askIndexer, ['health', {}], healthShape);
  const { lag, silentMs } = await readIndex(ctx);
  return { ok: silentMs < FOLLOWER_SILENT_MS && lag <= FOLLOWER_BEHIND_BLOCKS, chain: ctx.config.chainId };
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

/** Where an answer comes from without an INDEXER_URL. */
interface Sources<T> {
  /** The events that were read. */
  readonly read: () => Promise<T>;
  /** The contracts, where they can answer. */
  readonly onChain?: () => Promise<T | undefined>;
}

/**
 * A gap in the index does not mean "not found": a current index is believed, any other only for the rows that it has.
 */
async function answer<T>(
  ctx: Ctx,
  question: Parameters<AskIndexer>,
  shape: v.GenericSchema<unknown, T>,
  { read, onChain }: Sources<T>,
): Promise<T> {
  if (ctx.askIndexer) return askForShape(ctx.askIndexer, question, shape);
  const index = await readIndex(ctx);
  if (index.isCurrent) return read();
  const isFollowed = ctx.config.follower || index.silentMs < FOLLOWER_SILENT_MS;
  if (isFollowed && index.lag <= FOLLOWER_BEHIND_BLOCKS) {
    const found = await read();
    if (!isNotFound(found)) return found;
  }
  const told = await onChain?.();
  if (told !== undefined) return told;
  if (!isFollowed) throw new VaultError('indexer_not_configured');
  throw new VaultError('indexer_behind', { retryAfterSeconds: INDEX_RETRY_SECONDS });
}

function isNotFound(answered: unknown): boolean {
  return (answered as { readonly found?: boolean }).found === false;
}

async function readIndex({ config, clock, db }: Pick<Ctx, 'config' | 'clock' | 'db'>): Promise<IndexState> {
  const [row = {}] = await db.read(selectPosition());
  return indexState(config, row, clock.now());
}

function minedIn(row: Row): { block_number: string; tx_hash: string } {
  return { block_number: String(row['block']), tx_hash: row['tx_hash'] as string };
}
