import type { Statement } from '../db/database.ts';

/**
 * A column of the newest alias event, by SQL of the alias hash: an alias that moves leads to where it was registered
 * last. Null once it was freed, or its DID was registered again: then the rightful holder took the DID from a squatter,
 * whose aliases lead nowhere.
 */
const newestAlias = (column: string, aliasHash: string) => `(SELECT
    CASE WHEN kind = 'AliasRegistered' AND NOT EXISTS (SELECT 1 FROM chain_events AS taken
      WHERE taken.subject = alias.object AND taken.kind = 'DIDRegistered'
        AND (taken.block, taken.log_index) > (alias.block, alias.log_index)) THEN alias.${column} END
  FROM chain_events AS alias WHERE kind IN ('AliasRegistered', 'AliasFreed') AND subject = ${aliasHash}
  ORDER BY block DESC, log_index DESC LIMIT 1)`;

/** SQL of the DID hash that the alias of a session or a registration leads to in the index, null if to none. */
export function indexedDid(aliasHash: string): string {
  return newestAlias('object', aliasHash);
}

/** `:led_to` is `index` where the statement itself reads the index, else the node's answer. */
const LED_TO = `CASE :led_to WHEN 'index' THEN ${indexedDid(':alias_hash')} ELSE nullif(:led_to, '') END`;

/** SQL that is 1 if the alias leads to the DID, else 0. Needs `:led_to`, `:alias_hash` and `:did_hash`. */
export const ALIAS_LEADS_HERE = `coalesce(${LED_TO} = :did_hash, 0)`;

/** SQL that is 1 if the alias leads to another DID, else 0. Needs the same. */
export const ALIAS_LEADS_ELSEWHERE = `coalesce(${LED_TO} <> :did_hash, 0)`;

/** One row: the DID hash and the block of the alias in the index, null if it has none; and the follower's position. */
export function selectIndexedAlias(aliasHash: string): Statement {
  return {
    sql: `SELECT ${newestAlias('object', ':alias_hash')} AS did_hash,
      ${newestAlias('block', ':alias_hash')} AS alias_block, follower.* FROM (SELECT 1) LEFT JOIN follower ON follower.id = 1`,
    args: { alias_hash: aliasHash },
  };
}

/** The follower's position, one row or none. */
export function selectFollower(): Statement {
  return { sql: `SELECT * FROM follower WHERE id = 1`, args: {} };
}
