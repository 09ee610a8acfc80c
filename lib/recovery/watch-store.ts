import type { Row, Statement } from '../db/database.ts';

/** The searches on-chain: for accounts that name a guardian, and for guardians' proposals. */
export type WatchLook = 'scan' | 'proposals';

/** A guardian on a chain; the address lower-case. */
export interface WatchKey {
  readonly chainId: number;
  readonly guardian: string;
}

/** How far the chain is read, by the numbers of final blocks; -1 before the first. */
export interface WatchPosition {
  /** Up to where proposals were looked for, of any guardian that there was. */
  readonly proposals: number;
  /** Up to where the accounts were looked for that name the present guardian or a former one. */
  readonly scanned: number;
}

/** How far the chain was read for each guardian that this database has had. */
export function selectPositions(chainId: number): Statement {
  return {
    sql: `SELECT guardian, block, scanned FROM recovery_cursors WHERE chain_id = :chain_id`,
    args: { chain_id: chainId },
  };
}

/** How far a node may be behind another; a position further beyond its head is of another chain. */
const BEHIND_BLOCKS_MAX = 1_000;
/** How many blocks are read again for proposals after such a position: more than passed in that look. */
const AGAIN_BLOCKS = 2_000;

/** The rows of `selectPositions`, read for the present guardian; none far beyond the chain's head counts. */
export function positionIn(rows: readonly Row[], guardian: string, head: number): WatchPosition {
  const own = rows.find((row) => row['guardian'] === guardian);
  const upTo = (block: unknown, otherwise: number) =>
    Number(block ?? -1) > head + BEHIND_BLOCKS_MAX ? otherwise : Number(block ?? -1);
  const again = Math.max(0, head - AGAIN_BLOCKS);
  return {
    proposals: Math.max(-1, ...rows.map((row) => upTo(row['block'], again))),
    scanned: upTo(own?.['scanned'], -1),
  };
}

/** The guardians of the rows of `selectPositions`, the present one first. */
export function guardiansIn(rows: readonly Row[], guardian: string): readonly string[] {
  return [...new Set([guardian, ...rows.map((row) => String(row['guardian']))])];
}

/**
 * Records up to which block a look has read: it works. That goes back only where it was far beyond the chain's head, as
 * a node for another chain answered.
 */
export function movePosition(
  { chainId, guardian }: WatchKey,
  look: 'scan' | 'proposals',
  { block, head }: { readonly block: number; readonly head: number },
): readonly Statement[] {
  const args = { chain_id: chainId, guardian, block, most: head + BEHIND_BLOCKS_MAX };
  const moved =
    look === 'proposals'
      ? `(chain_id, guardian, block) VALUES (:chain_id, :guardian, :block) ON CONFLICT (chain_id, guardian)
        DO UPDATE SET block = iif(block > :most, excluded.block, max(block, excluded.block))`
      : `(chain_id, guardian, block, scanned) VALUES (:chain_id, :guardian, -1, :block) ON CONFLICT (chain_id, guardian)
        DO UPDATE SET scanned = iif(scanned > :most, excluded.scanned, max(coalesce(scanned, -1), excluded.scanned))`;
  return [{ sql: `INSERT INTO recovery_cursors ${moved}`, args }, endFailure(chainId, look)];
}

/** Records since when a look fails; `rowsAffected` is 1 if it did not before. */
export function beginFailure(chainId: number, look: WatchLook, now: number): Statement {
  return {
    sql: `INSERT INTO watch_failures (chain_id, look, since) VALUES (:chain_id, :look, :now)
      ON CONFLICT (chain_id, look) DO NOTHING`,
    args: { chain_id: chainId, look, now },
  };
}

function endFailure(chainId: number, look: WatchLook): Statement {
  return {
    sql: `DELETE FROM watch_failures WHERE chain_id = :chain_id AND look = :look`,
    args: { chain_id: chainId, look },
  };
}

/** Since when each look fails, of accounts the one that has failed for the longest; none for those that work. */
export function selectFailures(chainId: number): Statement {
  return {
    sql: `SELECT look, since FROM watch_failures WHERE chain_id = :chain_id
      UNION ALL SELECT 'accounts', min(failing_since) FROM recovery_addresses
        WHERE chain_id = :chain_id AND failing_since IS NOT NULL GROUP BY chain_id`,
    args: { chain_id: chainId },
  };
}
