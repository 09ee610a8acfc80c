import type { Condition, Row, Statement } from '../db/database.ts';
import { linkSessions, unlinkSessions } from '../sessions/sessions.ts';
import {
  type ChainEvent,
  deleteEventsAfter,
  deleteNewestEvents,
  emitDeactivations,
  insertChainEvents,
} from './event-store.ts';

/** Blocks whose hashes are kept to find where a re-org began: longer than finality takes. */
export const FOLLOWER_KEEP_BLOCKS = 1_024;
/** Rows removed at a turn when all has to be read again. */
export const FOLLOWER_CLEAR_ROWS_MAX = 10_000;

/** What has been read of the chain. */
export interface Position {
  /** Chain and contracts that the events are of; empty while they are being removed. */
  readonly source: string;
  /** The hash of the chain's first block. */
  readonly genesis: string;
  /** The first block of interest. */
  readonly start: number;
  /** The last block read; one before `start` when none was. */
  readonly block: number;
  /** Its hash when it was read; empty when none was. */
  readonly hash: string;
  /** The chain's newest block when it was last looked at, and when that was noted. */
  readonly head: number;
  readonly seenAt: number;
}

/** The position, one row or none. */
export function selectPosition(): Statement {
  return { sql: `SELECT * FROM follower`, args: {} };
}

/** The row, read. */
export function toPosition(row: Row): Position {
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

/** The lease, and the position as it was read: what every write that moves it demands, so that a late one changes nothing. */
export function standingAt({ block, hash }: Position, lease: Condition): Condition {
  return {
    sql: `${lease.sql} AND EXISTS (SELECT 1 FROM follower WHERE block = :at_block AND hash = :at_hash)`,
    args: { ...lease.args, at_block: block, at_hash: hash },
  };
}

/** A range of blocks as read: all events from block `from` up to `last`. */
export interface ReadRange {
  readonly from: number;
  readonly last: KnownBlock;
  readonly events: readonly ChainEvent[];
}

/** Stores a range (its second statement, if it has events), links the sessions whose alias is in it, and moves on; the last statement's `rowsAffected` is the verdict. */
export function advance(
  { from, last, events }: ReadRange,
  head: number,
  now: number,
  standing: Condition,
): Statement[] {
  const hasAlias = events.some(({ kind }) => kind === 'AliasRegistered');
  return [
    ...(events.length > 0 ? [emitDeactivations(events, now, standing), insertChainEvents(events, standing)] : []),
    ...(hasAlias ? linkSessions(from, now, standing) : []),
    ...rememberBlock(last, standing),
    moveTo(last, head, now, standing),
  ];
}

/** Takes back all that was read after a block, and moves back to it; sessions linked by it are given until `lapseAt` to be linked again. */
export function rewind(
  block: KnownBlock,
  lapseAt: number,
  head: number,
  now: number,
  standing: Condition,
): Statement[] {
  return [
    ...unlinkSessions({ from: block.number + 1, lapseAt, now }, standing),
    deleteEventsAfter(block.number, standing),
    deleteBlocksAfter(block.number, standing),
    moveTo(block, head, now, standing),
  ];
}

/** Notes a look that found nothing new. */
export function noteLook({ head, seenAt }: Pick<Position, 'head' | 'seenAt'>, { sql, args }: Condition): Statement {
  return { sql: `UPDATE follower SET head = :head, seen_at = :now WHERE ${sql}`, args: { head, now: seenAt, ...args } };
}

/** Takes back a bounded part of everything; the last statement's `rowsAffected` tells whether more is left. A position cleared halfway belongs to no source. */
export function clear(lapseAt: number, now: number, lease: Condition): Statement[] {
  return [
    { sql: `UPDATE follower SET source = '' WHERE ${lease.sql}`, args: lease.args },
    ...unlinkSessions({ from: 0, lapseAt, now }, lease),
    deleteBlocksAfter(-1, lease),
    deleteNewestEvents(FOLLOWER_CLEAR_ROWS_MAX, lease),
  ];
}

/** Puts the follower at its beginning. */
export function begin(
  { source, genesis, start, head, seenAt }: Omit<Position, 'block' | 'hash'>,
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

/** A block as it was when it was read. */
export interface KnownBlock {
  readonly number: number;
  readonly hash: string;
}

/** Remembers a block, and forgets those too old to be taken back; the newest of them stays, so that there is always one to go back to. */
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

/** Forgets later blocks. */
export function deleteBlocksAfter(block: number, { sql, args }: Condition): Statement {
  return { sql: `DELETE FROM chain_blocks WHERE number > :after AND ${sql}`, args: { after: block, ...args } };
}

/** The newest blocks below a number whose hash is known, of those remembered and of those with events. */
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
