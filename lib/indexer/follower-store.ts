import type { Condition, Row, Statement } from '../db/database.ts';
import { recheckDids, recheckHandles, recheckKeys, recheckMoved } from '../holders/holders.ts';
import { linkSessions, recheckSessions, unlinkSessions } from '../sessions/sessions.ts';
import { type ChainEvent, deleteEventsAfter, emitDeactivations, insertChainEvents } from './event-store.ts';

/** Blocks whose hashes are kept to find the start of a re-org: more than finality takes. */
export const FOLLOWER_KEEP_BLOCKS = 1_024;
/** Events deleted per turn when the follower starts over or goes back, and the others of the last one's block. */
export const FOLLOWER_CLEAR_EVENTS = 1_000;

/** How far the follower has read; the row of `follower`. */
export interface FollowerPosition {
  /** Chain id and contracts of the stored events; empty while they are being deleted. */
  readonly source: string;
  /** The hash of the chain's first block. */
  readonly genesis: string;
  /** The first block to read. */
  readonly start: number;
  /** The last block read; `start - 1` if none. */
  readonly block: number;
  /** The hash of `block`; empty if none. */
  readonly hash: string;
  /** The chain's newest block at the last recorded poll. */
  readonly head: number;
  /** The time of that poll in milliseconds. */
  readonly seenAt: number;
}

/** The position, one row or none. */
export function selectPosition(): Statement {
  return { sql: `SELECT * FROM follower`, args: {} };
}

/** Reads the row of `selectPosition`. */
export function toPosition(row: Row): FollowerPosition {
  return {
    source: String(row['source']),
    genesis: String(row['genesis']),
    start: Number(row['start']),
    block: Number(row['block']),
    hash: String(row['hash']),
    head: Number(row['head']),
    seenAt: Number(row['seen_at']),
  };
}

/**
 * True while the lease is held and the position is unchanged. Every write of the follower requires it, so that a late
 * one changes nothing.
 */
export function whileUnmoved({ block, hash }: FollowerPosition, lease: Condition): Condition {
  return {
    sql: `${lease.sql} AND EXISTS (SELECT 1 FROM follower WHERE block = :at_block AND hash = :at_hash)`,
    args: { ...lease.args, at_block: block, at_hash: hash },
  };
}

/** All events of blocks `from` to `last`. */
export interface ReadRange {
  readonly from: number;
  readonly last: KnownBlock;
  readonly events: readonly ChainEvent[];
  /** The accounts whose keys may have changed. */
  readonly keyAccounts?: readonly string[];
}

/**
 * Stores a range (the second statement, if it has events), links sessions by its aliases, makes changed rows due and
 * moves the position. The last `rowsAffected` is 1 on success.
 */
export function advance(
  { from, last, events, keyAccounts = [] }: ReadRange,
  head: number,
  now: number,
  condition: Condition,
): Statement[] {
  const has = (...kinds: readonly ChainEvent['kind'][]) => events.some(({ kind }) => kinds.includes(kind));
  return [
    ...(events.length > 0 ? [emitDeactivations(events, now, condition), insertChainEvents(events, condition)] : []),
    ...(has('AliasRegistered') ? linkSessions(from, now, condition) : []),
    ...(has('AliasFreed') ? [recheckSessions(from, now, condition)] : []),
    ...(has('AliasRegistered', 'AliasFreed') ? [recheckHandles(from, now, condition)] : []),
    ...(has('DIDRegistered', 'DIDMoved', 'DIDDeactivated') ? [recheckDids(from, now, condition)] : []),
    ...(keyAccounts.length > 0 ? [recheckKeys(keyAccounts, now, condition)] : []),
    ...rememberBlock(last, condition),
    moveTo(last, head, now, condition),
  ];
}

/**
 * Deletes everything that was read after `block` and moves the position back to it. Sessions linked by that lapse at
 * `lapseAt` unless they are linked again.
 */
export function rewind(
  block: KnownBlock,
  lapseAt: number,
  head: number,
  now: number,
  condition: Condition,
): Statement[] {
  return [
    ...unlinkSessions({ from: block.number + 1, lapseAt, now }, condition),
    recheckMoved(block.number + 1, now, condition),
    deleteEventsAfter(block.number, condition),
    deleteBlocksAfter(block.number, condition),
    moveTo(block, head, now, condition),
  ];
}

/** Records a poll without new blocks. */
export function recordPoll(
  { head, seenAt }: Pick<FollowerPosition, 'head' | 'seenAt'>,
  { sql, args }: Condition,
): Statement {
  return { sql: `UPDATE follower SET head = :head, seen_at = :now WHERE ${sql}`, args: { head, now: seenAt, ...args } };
}

/** The block from which a turn deletes; no row where few events are left. */
export function selectClearStart(): Statement {
  return {
    sql: `SELECT block FROM chain_events ORDER BY block DESC, log_index DESC LIMIT 1 OFFSET :skipped`,
    args: { skipped: FOLLOWER_CLEAR_EVENTS - 1 },
  };
}

/**
 * Deletes the events of blocks from `from` on, and all blocks. Sessions that only these events linked lapse at
 * `lapseAt`. The source is empty from then on.
 */
export function clear(from: number, lapseAt: number, now: number, lease: Condition): Statement[] {
  return [
    { sql: `UPDATE follower SET source = '' WHERE ${lease.sql}`, args: lease.args },
    ...unlinkSessions({ from, lapseAt, now }, lease),
    deleteBlocksAfter(-1, lease),
    deleteEventsAfter(from - 1, lease),
  ];
}

/** Sets the position to its start. */
export function begin(
  { source, genesis, start, head, seenAt }: Omit<FollowerPosition, 'block' | 'hash'>,
  lease: Condition,
): Statement {
  return {
    sql: `INSERT INTO follower (id, source, genesis, start, block, hash, head, seen_at)
      SELECT 1, :source, :genesis, :start, :block, '', :head, :seen_at WHERE ${lease.sql}
      ON CONFLICT (id) DO UPDATE SET source = excluded.source, genesis = excluded.genesis, start = excluded.start,
        block = excluded.block, hash = excluded.hash, head = excluded.head, seen_at = excluded.seen_at`,
    args: { source, genesis, start, block: start - 1, head, seen_at: seenAt, ...lease.args },
  };
}

function moveTo({ number, hash }: KnownBlock, head: number, now: number, { sql, args }: Condition): Statement {
  return {
    sql: `UPDATE follower SET block = :block, hash = :hash, head = :head, seen_at = :now WHERE ${sql}`,
    args: { block: number, hash, head, now, ...args },
  };
}

/** The number and hash of a block when it was read. */
export interface KnownBlock {
  readonly number: number;
  readonly hash: string;
}

/**
 * Inserts a block, and deletes those older than `FOLLOWER_KEEP_BLOCKS` except the newest of them: there is always one
 * to go back to.
 */
export function rememberBlock({ number, hash }: KnownBlock, { sql, args }: Condition): readonly Statement[] {
  return [
    {
      sql: `INSERT INTO chain_blocks (number, hash) SELECT :number, :hash WHERE ${sql}
        ON CONFLICT (number) DO UPDATE SET hash = excluded.hash`,
      args: { number, hash, ...args },
    },
    {
      sql: `DELETE FROM chain_blocks
        WHERE number < (SELECT max(number) FROM chain_blocks WHERE number <= :before) AND ${sql}`,
      args: { before: number - FOLLOWER_KEEP_BLOCKS, ...args },
    },
  ];
}

/** Deletes blocks after `block`. */
export function deleteBlocksAfter(block: number, { sql, args }: Condition): Statement {
  return { sql: `DELETE FROM chain_blocks WHERE number > :after AND ${sql}`, args: { after: block, ...args } };
}

/** The newest blocks below `below` with a known hash: of `chain_blocks` and of the events. */
export function selectKnownBlocks(below: number, limit: number): Statement {
  return {
    sql: `SELECT number, hash FROM (
        SELECT * FROM (SELECT number, hash FROM chain_blocks WHERE number < :below ORDER BY number DESC LIMIT :limit)
        UNION
        SELECT * FROM (SELECT DISTINCT block, block_hash FROM chain_events WHERE block < :below ORDER BY block DESC LIMIT :limit)
      ) ORDER BY number DESC LIMIT :limit`,
    args: { below, limit },
  };
}

/** Reads a row of `selectKnownBlocks`. */
export function toKnownBlock(row: Row): KnownBlock {
  return { number: Number(row['number']), hash: String(row['hash']) };
}
