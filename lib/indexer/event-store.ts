import type { Condition, Statement } from '../db/database.ts';
import { emitEvents } from '../events/emit.ts';

/** An event of the registry or the factory; hashes and addresses in lower-case 0x-hex. */
export interface ChainEvent {
  readonly kind: 'DIDRegistered' | 'AliasRegistered' | 'DIDUpdated' | 'DIDDeactivated' | 'AccountCreated';
  /** The DID's hash, the alias hash, or the account. */
  readonly subject: string;
  /** The subject's controller, DID hash, or owner. */
  readonly object: string | null;
  readonly metadataCid: string | null;
  readonly block: number;
  readonly blockHash: string;
  readonly txHash: string;
  readonly logIndex: number;
}

/** Inserts events that are not stored yet. They are one JSON argument, since a range may hold thousands. */
export function insertChainEvents(events: readonly ChainEvent[], { sql, args }: Condition): Statement {
  const rows = events.map((one) => [
    one.block,
    one.logIndex,
    one.blockHash,
    one.txHash,
    one.kind,
    one.subject,
    one.object,
    one.metadataCid,
  ]);
  return {
    sql: `INSERT INTO chain_events (block, log_index, block_hash, tx_hash, kind, subject, object, metadata_cid)
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7
      FROM json_each(:rows) WHERE ${sql}
      ON CONFLICT DO NOTHING`,
    args: { rows: JSON.stringify(rows), ...args },
  };
}

/**
 * Emits `did.deactivated` for each deactivation not stored yet, in the app of the DID's registration. Run before
 * `insertChainEvents`.
 */
export function emitDeactivations(events: readonly ChainEvent[], now: number, { sql, args }: Condition): Statement {
  const deactivated = events.filter(({ kind }) => kind === 'DIDDeactivated');
  const rows = deactivated.map(({ block, logIndex, subject, txHash }) => [block, logIndex, subject, txHash]);
  const part = {
    type: 'did.deactivated',
    app: `coalesce((SELECT app FROM registrations WHERE did_hash = value ->> 2 AND status <> 'failed' LIMIT 1), 'default')`,
    data: { did_hash: 'value ->> 2', tx_hash: 'value ->> 3', block: 'value ->> 0' },
    from: `FROM json_each(:rows) WHERE ${sql}
      AND NOT EXISTS (SELECT 1 FROM chain_events WHERE block = value ->> 0 AND log_index = value ->> 1)`,
  } as const;
  return emitEvents([part], { rows: JSON.stringify(rows), now, ...args });
}

/** Deletes the events of blocks after `block`. */
export function deleteEventsAfter(block: number, { sql, args }: Condition): Statement {
  return { sql: `DELETE FROM chain_events WHERE block > :after AND ${sql}`, args: { after: block, ...args } };
}

/** Deletes up to `limit` events, newest first. */
export function deleteNewestEvents(limit: number, { sql, args }: Condition): Statement {
  return {
    sql: `DELETE FROM chain_events WHERE (block, log_index) IN
      (SELECT block, log_index FROM chain_events ORDER BY block DESC, log_index DESC LIMIT :limit) AND ${sql}`,
    args: { limit, ...args },
  };
}

/** The DID that an alias leads to now, one row or none; `controller` is null if its registration was not read. */
export function selectAlias(hash: string): Statement {
  return {
    sql: `SELECT alias.object AS did_hash, did.object AS controller, did.object IS NOT NULL AND ${isActive('did')} AS active
      FROM chain_events AS alias
      LEFT JOIN chain_events AS did ON did.subject = alias.object AND did.kind = 'DIDRegistered'
      WHERE alias.subject = :hash AND alias.kind = 'AliasRegistered'
      ORDER BY alias.block DESC, alias.log_index DESC, did.block DESC, did.log_index DESC LIMIT 1`,
    args: { hash },
  };
}

/** A DID by its hash, one row or none. */
export function selectDid(hash: string): Statement {
  return {
    sql: `SELECT object AS controller, ${isActive('did')} AS active, block, tx_hash,
        coalesce((SELECT metadata_cid FROM chain_events WHERE subject = :hash AND kind = 'DIDUpdated'
          ORDER BY block DESC, log_index DESC LIMIT 1), metadata_cid) AS metadata_cid
      FROM chain_events AS did WHERE subject = :hash AND kind = 'DIDRegistered' LIMIT 1`,
    args: { hash },
  };
}

/** An account by its address, one row or none. */
export function selectAccount(address: string): Statement {
  return {
    sql: `SELECT object AS owner, block, tx_hash FROM chain_events
      WHERE subject = :address AND kind = 'AccountCreated' ORDER BY block LIMIT 1`,
    args: { address },
  };
}

/** The number of events of each kind, and the last block read. */
export function selectStatistics(): Statement {
  const tally = (kind: ChainEvent['kind']) => `(SELECT value FROM tallies WHERE name = '${kind}')`;
  return {
    sql: `SELECT ${tally('DIDRegistered')} AS dids, ${tally('DIDDeactivated')} AS deactivated,
      ${tally('AliasRegistered')} AS aliases, ${tally('AccountCreated')} AS accounts,
      coalesce((SELECT max(block, 0) FROM follower), 0) AS block`,
    args: {},
  };
}

function isActive(did: string): string {
  return `NOT EXISTS (SELECT 1 FROM chain_events WHERE subject = ${did}.subject AND kind = 'DIDDeactivated')`;
}
