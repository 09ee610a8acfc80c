import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { type Block, findDeployment, readBlock, readGenesis, readHead } from '../chain/blocks.ts';
import { contractsOf, sourceOf } from '../chain/followed-contracts.ts';
import { type BlockRange, createBlockRange, isRangeRefused, LOG_RANGE_BLOCKS_MAX } from '../chain/log-range.ts';
import type { Platform } from '../platform.ts';
import {
  advance,
  begin,
  clear,
  type FollowerPosition,
  type KnownBlock,
  recordPoll,
  rewind,
  selectClearStart,
  selectKnownBlocks,
  selectPosition,
  toKnownBlock,
  toPosition,
  whileUnmoved,
} from './follower-store.ts';
import { readKeyAccounts } from './key-logs.ts';
import { readEvents } from './logs.ts';

/** The lease of the following process, renewed at each turn. */
export const FOLLOWER_LEASE_MS = 15_000;
const FOLLOWER_RETRY_MIN_MS = 1_000;
/** The longest pause after a failure. */
export const FOLLOWER_RETRY_MAX_MS = MINUTE_MS;
/** Blocks read again, because a node behind a load balancer may answer before it has the newest ones. */
const FOLLOWER_OVERLAP_BLOCKS = 16;
/** Block hashes requested at once to find a fork. */
export const FOLLOWER_FORK_BLOCKS_MAX = 25;
/** How often a poll without new blocks is recorded. */
const FOLLOWER_SEEN_MS = 10_000;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'leases' | 'metrics' | 'log'>;

const LEASE = 'follower';

/**
 * The task that reads the events of the registry and the factory into the database, one range of blocks per turn, in
 * one process at a time. A turn returns whether there is more to read now. After failures of the chain the pauses grow.
 */
export function createFollower(): (ctx: Ctx) => Promise<boolean> {
  const range = createBlockRange();
  let failures = 0;
  let dueAt = 0;
  return async (ctx) => {
    const { config, clock, log } = ctx;
    if (clock.monotonic() < dueAt) return false;
    try {
      const more = await follow(ctx, range);
      if (failures > 0) log({ level: 'info', event: 'follower_recovered', failures });
      failures = 0;
      if (!more) dueAt = clock.monotonic() + config.followerPollSeconds * 1000;
      return more;
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      if (failures === 0) log({ level: 'warn', event: 'follower_failed', ...describeError(error) });
      // Counted from now, not from the start of the poll: a timeout takes longer than the first pauses.
      dueAt = clock.monotonic() + Math.min(FOLLOWER_RETRY_MAX_MS, FOLLOWER_RETRY_MIN_MS * 2 ** failures++);
      return false;
    }
  };
}

/** One poll of the chain, and its consequence: read on, go back, start over, or nothing. */
async function follow(ctx: Ctx, range: BlockRange): Promise<boolean> {
  const hasLease = await ctx.leases.take(LEASE, FOLLOWER_LEASE_MS);
  const position = await readPosition(ctx);
  if (position) setGauges(ctx, position);
  if (!hasLease) return false;
  if (!position || !fitsSettings(position, ctx.config)) return startOver(ctx);
  const [head, lastRead] = await Promise.all([
    readHead(ctx),
    hasStarted(position) ? readBlock(ctx, position.block) : undefined,
  ]);
  if (hasStarted(position) && lastRead?.hash !== position.hash) {
    if ((await readGenesis(ctx)).hash !== position.genesis) return startOver(ctx);
    if (lastRead) return goBack(ctx, position, head);
  }
  // A node that does not have the last block read is behind the node that was asked before.
  if (head.number > position.block && (lastRead || !hasStarted(position))) return readOn(ctx, range, position, head);
  // One that another clock dated later than now is recorded again too.
  if (Math.abs(ctx.clock.now() - position.seenAt) >= FOLLOWER_SEEN_MS) await recordHead(ctx, position, head);
  return false;
}

/**
 * Reads the next range. The hash of its last block is read before its events: if a re-org happens in between, the next
 * poll finds another hash and goes back. So the stored events always belong to the chain of the stored hash.
 */
async function readOn(ctx: Ctx, range: BlockRange, position: FollowerPosition, head: Block): Promise<boolean> {
  const overlap = Math.min(FOLLOWER_OVERLAP_BLOCKS, range.blocks >> 1);
  const from = Math.max(position.start, position.block + 1 - overlap);
  const to = from + range.blocks - 1;
  const last = head.number <= to ? head : await readBlock(ctx, to);
  if (!last) return false;
  const size = last.number - from + 1;
  const [events, keyAccounts] = await Promise.all([
    readEvents(ctx, from, last.number).catch((failure) => {
      if (size === 1 || !isRangeRefused(failure)) throw failure;
      range.refused(size);
    }),
    readKeyAccounts(ctx, from, last.number),
  ]);
  if (!events) return true;
  if (size === range.blocks) range.answered();
  const now = ctx.clock.now();
  const condition = whileUnmoved(position, ctx.leases.held(LEASE));
  const results = await ctx.db.write(...advance({ from, last, events, keyAccounts }, head.number, now, condition));
  if (results.at(-1)?.rowsAffected !== 1) return false;
  const added = events.length > 0 ? (results[1]?.rowsAffected ?? 0) : 0;
  ctx.metrics.counter('vault_follower_events_total').add({}, added);
  setGauges(ctx, { block: last.number, head: head.number });
  return last.number < head.number;
}

/**
 * Goes back to the newest block that is still part of the chain, in turns if that takes many events back. After each
 * turn the position is a block that was read, as before, so a process that breaks off there finds the fork again.
 */
async function goBack(ctx: Ctx, position: FollowerPosition, head: Block): Promise<boolean> {
  const fork = await findFork(ctx, position.block);
  if (!fork) return startOver(ctx);
  for (let at = position; at.block > fork.number; ) {
    const step = (await findStep(ctx, fork)) ?? fork;
    const now = ctx.clock.now();
    const lapseAt = now + ctx.config.sessionTtlSeconds * 1000;
    const condition = whileUnmoved(at, ctx.leases.held(LEASE));
    const results = await ctx.db.write(...rewind(step, lapseAt, head.number, now, condition));
    if (results.at(-1)?.rowsAffected !== 1) return false;
    at = { ...at, block: step.number, hash: step.hash };
  }
  ctx.metrics.counter('vault_follower_reorgs_total').add();
  ctx.log({ level: 'info', event: 'follower_went_back', from: position.block, to: fork.number });
  return true;
}

/** A block that was read after the fork and before very many events; undefined where few events are left. */
async function findStep({ db }: Ctx, fork: KnownBlock): Promise<KnownBlock | undefined> {
  const [event] = await db.read(selectClearStart());
  const [row] = event ? await db.read(selectKnownBlocks(Number(event['block']), 1)) : [];
  return row && Number(row['number']) > fork.number ? toKnownBlock(row) : undefined;
}

async function findFork(ctx: Ctx, block: number): Promise<KnownBlock | undefined> {
  for (let below = block; ; ) {
    const rows = await ctx.db.read(selectKnownBlocks(below, FOLLOWER_FORK_BLOCKS_MAX));
    const known = rows.map(toKnownBlock);
    const found = await Promise.all(known.map(({ number }) => readBlock(ctx, number)));
    const fork = known.find(({ hash }, i) => found[i]?.hash === hash);
    if (fork || known.length === 0) return fork;
    below = known.at(-1)?.number ?? 0;
  }
}

/** Deletes the rows of other contracts or another chain, in turns if there are many, and starts again. */
async function startOver(ctx: Ctx): Promise<boolean> {
  const { config, clock, db, leases } = ctx;
  const genesis = await readGenesis(ctx);
  const now = clock.now();
  const lapseAt = now + config.sessionTtlSeconds * 1000;
  const [left] = await db.read(selectClearStart());
  await db.write(...clear(Number(left?.['block'] ?? 0), lapseAt, now, leases.held(LEASE)));
  if (left) return true;
  const head = await readHead(ctx);
  const start = config.followerStartBlock ?? (await findStart(ctx, head));
  if (!(await leases.take(LEASE, FOLLOWER_LEASE_MS))) return false;
  const beginning = { source: sourceOf(config), genesis: genesis.hash, start, head: head.number, seenAt: clock.now() };
  await db.write(begin(beginning, leases.held(LEASE)));
  ctx.log({ level: 'info', event: 'follower_begins', block: start, head: head.number });
  return true;
}

/** A chain that fits one range needs no search. */
async function findStart(ctx: Ctx, head: Block): Promise<number> {
  return head.number < LOG_RANGE_BLOCKS_MAX ? 0 : findDeployment(ctx, contractsOf(ctx.config), head.number);
}

async function recordHead({ clock, db, leases }: Ctx, position: FollowerPosition, head: Block): Promise<void> {
  const seen = { head: head.number, seenAt: clock.now() };
  await db.write(recordPoll(seen, whileUnmoved(position, leases.held(LEASE))));
}

async function readPosition({ db }: Ctx): Promise<FollowerPosition | undefined> {
  const [row] = await db.read(selectPosition());
  return row && toPosition(row);
}

function hasStarted({ block, start }: FollowerPosition): boolean {
  return block >= start;
}

/** Whether the position is of the configured contracts, and starts at the configured block or before. */
function fitsSettings({ source, start }: FollowerPosition, config: Ctx['config']): boolean {
  return source === sourceOf(config) && (config.followerStartBlock ?? start) >= start;
}

function setGauges({ metrics }: Ctx, { block, head }: Pick<FollowerPosition, 'block' | 'head'>): void {
  metrics.gauge('vault_follower_block').set(block);
  const lag = metrics.gauge('vault_follower_lag_blocks');
  lag.set(Math.max(0, head - block));
}
