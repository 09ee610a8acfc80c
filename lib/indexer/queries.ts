import * as v from 'valibot';
import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import type { Row } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { selectAccount, selectAlias, selectDid, selectStatistics } from './event-store.ts';
import { selectPosition, toPosition } from './follower-store.ts';
import type { AskIndexer } from './graphql-client.ts';

/** The indexer is well while its last look is younger, and the chain's head nearer. */
export const FOLLOWER_SILENT_MS = MINUTE_MS;
export const FOLLOWER_BEHIND_BLOCKS = 150;

type Services = Pick<Platform, 'config' | 'clock' | 'db'> & { readonly askIndexer: AskIndexer | undefined };

// The answers' shapes (completions section 8). An upstream's are cut to them, so that both modes answer alike.

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

/** Which DID the registry leads an alias hash to. Throws 502 `indexer_error`, 504 `indexer_timeout`, as all of these do. */
export function findAlias(vault: Services, aliasHash: string): Promise<v.InferOutput<typeof alias>> {
  return answer(vault, ['aliases', { hash: aliasHash }], alias, async () => {
    const [row] = await vault.db.read(selectAlias(aliasHash));
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

/** A DID as registered, by its hash. */
export function findDidByHash(vault: Services, didHash: string): Promise<v.InferOutput<typeof did>> {
  return answer(vault, ['dids', { hash: didHash }], did, async () => {
    const [row] = await vault.db.read(selectDid(didHash));
    if (!row) return { found: false };
    return {
      found: true,
      did_hash: didHash,
      controller: row['controller'] as string,
      metadata_cid: row['metadata_cid'] as string,
      active: row['active'] === 1,
      ...placeOf(row),
    };
  });
}

/** An account that the factory created, by its address. */
export function findAccount(vault: Services, accountAddress: string): Promise<v.InferOutput<typeof account>> {
  return answer(vault, ['accounts', { address: accountAddress }], account, async () => {
    const [row] = await vault.db.read(selectAccount(accountAddress));
    if (!row) return { found: false };
    return {
      found: true,
      account_address: accountAddress,
      owner_address: row['owner'] as string,
      ...placeOf(row),
    };
  });
}

/** How much was registered and created, up to the last block read. */
export function readStatistics(vault: Services): Promise<v.InferOutput<typeof statistics>> {
  return answer(vault, ['stats', {}], statistics, async () => {
    const [row = {}] = await vault.db.read(selectStatistics());
    const number = (name: string) => Number(row[name] ?? 0);
    return {
      total_dids: number('dids'),
      // Fewer than none when the follower was told to start after registrations that have ended since.
      active_dids: Math.max(0, number('dids') - number('deactivated')),
      total_aliases: number('aliases'),
      total_accounts: number('accounts'),
      last_block_number: String(number('block')),
    };
  });
}

/** Whether what is answered is as new as the chain, or nearly. */
export function readIndexerHealth(vault: Services): Promise<v.InferOutput<typeof health>> {
  return answer(vault, ['health', {}], health, async () => {
    const state = await readFollower(vault);
    const ok = state !== undefined && state.silentMs < FOLLOWER_SILENT_MS && state.lag <= FOLLOWER_BEHIND_BLOCKS;
    return { ok, chain: vault.config.chainId };
  });
}

/** How far the follower is, whichever process runs it: the last block read, the blocks on top of it, the time since it last looked. Undefined when none ever did. */
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
  { askIndexer }: Services,
  question: Parameters<NonNullable<Services['askIndexer']>>,
  schema: v.GenericSchema<unknown, T>,
  own: () => Promise<T>,
): Promise<T> {
  if (!askIndexer) return own();
  const result = v.safeParse(schema, await askIndexer(...question));
  if (!result.success) throw new VaultError('indexer_error', { cause: new UpstreamError('malformed') });
  return result.output;
}

function placeOf(row: Row): { block_number: string; tx_hash: string } {
  return { block_number: String(row['block']), tx_hash: row['tx_hash'] as string };
}
