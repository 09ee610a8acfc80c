import { FOLLOWER_KEEP_BLOCKS } from '../constants.ts';
import type { Condition, Statement } from '../db/database.ts';

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
