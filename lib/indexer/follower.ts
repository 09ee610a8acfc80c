import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { type Block, findDeployment, readBlock, readGenesis, readHead } from '../chain/blocks.ts';
import type { Platform } from '../platform.ts';
import { createSpan, FOLLOWER_RANGE_BLOCKS_MAX, type Span } from './block-range.ts';
import {
  advance,
  begin,
  clear,
  FOLLOWER_CLEAR_ROWS_MAX,
  type KnownBlock,
  noteLook,
  type Position,
  rewind,
  selectKnownBlocks,
  selectPosition,
  standingAt,
  toPosition,
} from './follower-store.ts';
import { contractsOf, isRangeRefused, readEvents } from './logs.ts';

/** The follower of the chain's events. One process follows as long as it renews its lease. */
export const FOLLOWER_LEASE_MS = 15_000;
const FOLLOWER_RETRY_MIN_MS = 1_000;
export const FOLLOWER_RETRY_MAX_MS = MINUTE_MS;
/** Blocks read once more, because a node behind a load balancer may answer before it has the newest ones. */
const FOLLOWER_OVERLAP_BLOCKS = 16;
/** Block hashes that are asked for at once to find a fork. */
export const FOLLOWER_FORK_BLOCKS_MAX = 25;
/** A look that found nothing new is noted this often. */
const FOLLOWER_SEEN_MS = 10_000;

type Services = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'leases' | 'metrics' | 'log'>;

const LEASE = 'follower';

/**
 * Follows the registry's and the factory's events into the database, one range of blocks a turn; of several processes one does. A turn returns
 * whether there is more to read at once. A chain that cannot be read is asked again later, each time later.
 */
export function createFollower(): (vault: Services) => Promise<boolean> {
  const span = createSpan();
  let failures = 0;
  let dueAt = 0;
  return async (vault) => {
    const { config, clock, log } = vault;
    if (clock.now() < dueAt) return false;
    try {
      const more = await follow(vault, span);
      if (failures > 0) log({ level: 'info', event: 'follower_recovered', failures });
      failures = 0;
      if (!more) dueAt = clock.now() + config.followerPollSeconds * 1000;
      return more;
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      if (failures === 0) log({ level: 'warn', event: 'follower_failed', ...describeError(error) });
      // From now, not from the look's start: a look that times out takes longer than the first pauses.
      dueAt = clock.now() + Math.min(FOLLOWER_RETRY_MAX_MS, FOLLOWER_RETRY_MIN_MS * 2 ** failures++);
      return false;
    }
  };
}

/** One look at the chain, and what it asks for: reading on, going back, starting over, or nothing. */
async function follow(vault: Services, span: Span): Promise<boolean> {
  const isMine = await vault.leases.take(LEASE, FOLLOWER_LEASE_MS);
  const position = await readPosition(vault);
  if (position) show(vault, position);
  if (!isMine) return false;
  if (!position || !isOf(position, vault.config)) return startOver(vault);
  const [head, stood] = await Promise.all([
    readHead(vault),
    isBegun(position) ? readBlock(vault, position.block) : undefined,
  ]);
  if (isBegun(position) && stood?.hash !== position.hash) {
    if ((await readGenesis(vault)).hash !== position.genesis) return startOver(vault);
    if (stood) return goBack(vault, position, head);
  }
  // A node without the last block read is only behind the one that was asked before.
  if (head.number > position.block && (stood || !isBegun(position))) return readOn(vault, span, position, head);
  if (vault.clock.now() - position.seenAt >= FOLLOWER_SEEN_MS) await note(vault, position, head);
  return false;
}

/**
 * Reads the next range. The hash of its last block is read before its events: if a re-org comes in between, the next look finds another block
 * there and goes back, so that the events kept are always of the chain that this hash stands for.
 */
async function readOn(vault: Services, span: Span, position: Position, head: Block): Promise<boolean> {
  const overlap = Math.min(FOLLOWER_OVERLAP_BLOCKS, span.blocks >> 1);
  const from = Math.max(position.start, position.block + 1 - overlap);
  const to = from + span.blocks - 1;
  const last = head.number <= to ? head : await readBlock(vault, to);
  if (!last) return false;
  const size = last.number - from + 1;
  const events = await readEvents(vault, from, last.number).catch((failure) => {
    if (size === 1 || !isRangeRefused(failure)) throw failure;
    span.refused(size);
  });
  if (!events) return true;
  if (size === span.blocks) span.answered();
  const now = vault.clock.now();
  const standing = standingAt(position, vault.leases.held(LEASE));
  const results = await vault.db.write(...advance({ from, last, events }, head.number, now, standing));
  if (results.at(-1)?.rowsAffected !== 1) return false;
  const added = events.length > 0 ? (results[1]?.rowsAffected ?? 0) : 0;
  vault.metrics.counter('vault_follower_events_total').add({}, added);
  show(vault, { block: last.number, head: head.number });
  return last.number < head.number;
}

/** Goes back to the newest block that is still part of the chain. */
async function goBack(vault: Services, position: Position, head: Block): Promise<boolean> {
  const fork = await findFork(vault, position.block);
  if (!fork) return startOver(vault);
  const now = vault.clock.now();
  const lapseAt = now + vault.config.sessionTtlSeconds * 1000;
  const standing = standingAt(position, vault.leases.held(LEASE));
  const results = await vault.db.write(...rewind(fork, lapseAt, head.number, now, standing));
  if (results.at(-1)?.rowsAffected !== 1) return false;
  vault.metrics.counter('vault_follower_reorgs_total').add();
  vault.log({ level: 'info', event: 'follower_went_back', from: position.block, to: fork.number });
  return true;
}

async function findFork(vault: Services, block: number): Promise<KnownBlock | undefined> {
  for (let below = block; ; ) {
    const rows = await vault.db.read(selectKnownBlocks(below, FOLLOWER_FORK_BLOCKS_MAX));
    const known = rows.map(({ number, hash }) => ({ number: Number(number), hash: String(hash) }));
    const found = await Promise.all(known.map(({ number }) => readBlock(vault, number)));
    const fork = known.find(({ hash }, i) => found[i]?.hash === hash);
    if (fork || known.length === 0) return fork;
    below = known.at(-1)?.number ?? 0;
  }
}

/** Removes what was read of other contracts or of another chain, and begins anew; in several turns when it is much. */
async function startOver(vault: Services): Promise<boolean> {
  const { config, clock, db, leases } = vault;
  const genesis = await readGenesis(vault);
  const now = clock.now();
  const lapseAt = now + config.sessionTtlSeconds * 1000;
  const cleared = await db.write(...clear(lapseAt, now, leases.held(LEASE)));
  if (cleared.at(-1)?.rowsAffected === FOLLOWER_CLEAR_ROWS_MAX) return true;
  const head = await readHead(vault);
  const start = config.followerStartBlock ?? (await findStart(vault, head));
  if (!(await leases.take(LEASE, FOLLOWER_LEASE_MS))) return false;
  const beginning = { source: sourceOf(config), genesis: genesis.hash, start, head: head.number, seenAt: clock.now() };
  await db.write(begin(beginning, leases.held(LEASE)));
  vault.log({ level: 'info', event: 'follower_begins', block: start, head: head.number });
  return true;
}

/** A chain that is read at once needs no search. */
async function findStart(vault: Services, head: Block): Promise<number> {
  return head.number < FOLLOWER_RANGE_BLOCKS_MAX ? 0 : findDeployment(vault, contractsOf(vault.config), head.number);
}

async function note({ clock, db, leases }: Services, position: Position, head: Block): Promise<void> {
  const seen = { head: head.number, seenAt: clock.now() };
  await db.write(noteLook(seen, standingAt(position, leases.held(LEASE))));
}

async function readPosition({ db }: Services): Promise<Position | undefined> {
  const [row] = await db.read(selectPosition());
  return row && toPosition(row);
}

function isBegun({ block, start }: Position): boolean {
  return block >= start;
}

/** Whether the position is of these contracts, from where the settings say or before. */
function isOf({ source, start }: Position, config: Services['config']): boolean {
  return source === sourceOf(config) && (config.followerStartBlock ?? start) >= start;
}

function sourceOf(config: Services['config']): string {
  return [config.chainId, ...contractsOf(config)].join(' ');
}

function show({ metrics }: Services, { block, head }: Pick<Position, 'block' | 'head'>): void {
  metrics.gauge('vault_follower_block').set(block);
  const lag = metrics.gauge('vault_follower_lag_blocks');
  lag.set(Math.max(0, head - block));
}
