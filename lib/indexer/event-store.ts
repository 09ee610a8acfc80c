import { indexedDid } from '../aliases/aliases.ts';
import type { Condition, Statement } from '../db/database.ts';
import { emitEvents } from '../events/emit.ts';

/** An event of the registry or the factory; hashes and addresses in lower-case 0x-hex. */
export interface ChainEvent {
  readonly kind:
    | 'DIDRegistered'
    | 'DIDMoved'
    | 'DIDUpdated'
    | 'DIDDeactivated'
    | 'AliasRegistered'
    | 'AliasFreed'
    | 'AccountCreated';
  /** The DID's hash, the alias hash, or the account. */
  readonly subject: string;
  /** The subject's controller (of a moved DID the new one), DID hash, or owner. */
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

/** The DID that an alias leads to now, one row or none; `controller` is null if its registration was not read. */
export function selectAlias(hash: string): Statement {
  return {
    sql: `SELECT did_hash, ${controllerOf('did_hash')} AS controller,
        coalesce(${isActive('did_hash')}, 0) AS active
      FROM (SELECT ${indexedDid(':hash')} AS did_hash) WHERE did_hash IS NOT NULL`,
    args: { hash },
  };
}

/** A DID by its hash, one row or none. */
export function selectDid(hash: string): Statement {
  return {
    sql: `SELECT ${controllerOf(':hash')} AS controller, ${isActive(':hash')} AS active, block, tx_hash,
        ${newest('metadata_cid', ':hash', "'DIDRegistered', 'DIDUpdated'")} AS metadata_cid
      FROM chain_events WHERE subject = :hash AND kind = 'DIDRegistered'
      ORDER BY block DESC, log_index DESC LIMIT 1`,
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

/** SQL of a column of a subject's newest event of these kinds, null if there is none. */
function newest(column: string, subject: string, kinds: string): string {
  return `(SELECT ${column} FROM chain_events WHERE subject = ${subject} AND kind IN (${kinds})
    ORDER BY block DESC, log_index DESC LIMIT 1)`;
}

function controllerOf(didHash: string): string {
  return newest('object', didHash, "'DIDRegistered', 'DIDMoved'");
}

/** Null if no registration was read. The second registry may give a DID to its rightful holder after its end. */
function isActive(didHash: string): string {
  return newest("kind = 'DIDRegistered'", didHash, "'DIDRegistered', 'DIDDeactivated'");
}
