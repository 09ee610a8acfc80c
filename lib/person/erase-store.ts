// The writes of an erasure. Each statement changes `SWEEP_ROWS_MAX` rows at most, is asked again until it finds none,
// and changes nothing the second time.
import { PASS_GUESSES_MAX, SWEEP_ROWS_MAX } from '../constants.ts';
import { argsIn, type Condition, type Statement } from '../db/database.ts';
import { IS_ERASED } from '../identity/erasure.ts';
import { type PersonArgs, personal, stepOf } from './store.ts';
import { listed, OF_IDENTIFIERS, RECOVERIES_OF, RELAYS_OF } from './where-store.ts';

/** A recovery of the row's account that is not over: the addresses by which its owner is notified stay. */
const isOpen = (table: string) => `EXISTS (SELECT 1 FROM recoveries AS running
  WHERE running.account = ${table}.account AND running.chain_id = ${table}.chain_id AND running.final = 0)`;

/** A mask of a handle is one letter, of many handles: it goes with the event. */
const MASKS = listed('address_masks');
const HAS_MASK = `(data ->> 'identifier' IN ${MASKS} OR data ->> 'bucket' IN ${MASKS} OR data ->> 'key' IN ${MASKS})`;
const UNMASKED = `SET data = json_replace(data, CASE WHEN data ->> 'identifier' IN ${MASKS} THEN '$.identifier'
  WHEN data ->> 'bucket' IN ${MASKS} THEN '$.bucket' ELSE '$.key' END, '***')`;

/** How the rows of a table are emptied: SET …, and which of them still have something. */
interface Unlinking {
  readonly set: string;
  readonly where: string;
}

/** Tables whose rows stay but lose their links to the person. Live registrations are not among them: they go last. */
const UNLINKED: Readonly<Record<string, Unlinking>> = {
  // As a code that is dead: nothing checks it, and nothing is sent by its pass.
  codes: {
    set: `SET identifier = channel || ':[' || seq || ']@erased', id = '', digest = 'dead', pass = NULL,
      pass_guesses = ${PASS_GUESSES_MAX}, expires_at = min(expires_at, :now),
      delivery = CASE delivery WHEN 'pending' THEN 'lost' ELSE delivery END`,
    where: OF_IDENTIFIERS,
  },
  // Failed ones keep the columns that the relay's row needs.
  registrations: {
    set: `SET identifier = channel || ':[' || id || ']@erased', credential_id = '', alias_hash = '', proof = NULL,
      ip = NULL, notice_at = NULL`,
    where: `${OF_IDENTIFIERS} AND status = 'failed' AND EXISTS (SELECT 1 FROM relays WHERE registration_id = registrations.id)`,
  },
  relays: { set: `SET network = ''`, where: `id IN ${RELAYS_OF} AND network <> ''` },
  recovery_notices: {
    set: `SET due_at = NULL`,
    where: `due_at IS NOT NULL AND recipient = 'owner'
      AND recovery_id IN (SELECT id FROM recoveries WHERE id IN ${RECOVERIES_OF} AND final = 1)`,
  },
  recoveries: { set: `SET identifier = NULL`, where: `identifier IS NOT NULL AND ${OF_IDENTIFIERS} AND final = 1` },
  // A guarded account stays watched: the proposals of its guardian's key are not a secret of the person.
  recovery_addresses: {
    set: `SET identifier = '', app = NULL, language = NULL`,
    where: `${personal('recovery_addresses').where} AND is_used = 1 AND NOT ${isOpen('recovery_addresses')}`,
  },
  recovery_contacts: {
    set: `SET identifier = ''`,
    where: `${personal('recovery_contacts').where} AND identifier <> '' AND NOT ${isOpen('recovery_contacts')}`,
  },
  events: { set: UNMASKED, where: HAS_MASK },
  webhook_deliveries: { set: UNMASKED, where: HAS_MASK },
};

/** Events that say where and when the person signed in: an erasure removes them. */
const OF_SIGN_IN = `(type LIKE 'signin.%' OR type = 'passkey.first_used') AND data ->> 'did' IN ${listed('dids')}`;

/** Rows that are removed, where the table's own condition selects others too. */
const REMOVED: Readonly<Record<string, string>> = {
  registrations: `${OF_IDENTIFIERS} AND status = 'failed'
    AND NOT EXISTS (SELECT 1 FROM relays WHERE registration_id = registrations.id)`,
  events: OF_SIGN_IN,
  webhook_deliveries: OF_SIGN_IN,
  recovery_addresses: `${personal('recovery_addresses').where} AND is_used = 0
    AND NOT ${isOpen('recovery_addresses')}`,
  // No lock is held by this fence any more, and a row that is made again has no smaller one.
  identifier_rows: `${personal('identifier_rows').where} AND leased_until <= :now AND fence <= :now`,
};

/** One step of a table that an erasure changes; of one that is searched, behind `after` and up to `last`. */
export interface EraseStep {
  readonly args: PersonArgs;
  readonly now: number;
  readonly after?: string;
  readonly last?: string | undefined;
}

/** The statements of a step; none for a table that stays. */
export function eraseRows(table: string, step: EraseStep): readonly Statement[] {
  const { key, where, erasure, scan } = personal(table);
  if (erasure === 'stays') return [];
  const unlinked = UNLINKED[table];
  const removed = REMOVED[table] ?? (erasure === 'removed' ? where : undefined);
  const range = scan && stepOf(table, step.after ?? '', step.last);
  const rows = (condition: string) =>
    range
      ? `${range.sql} AND ${condition}`
      : `(${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${SWEEP_ROWS_MAX})`;
  const texts = [
    ...(removed === undefined ? [] : [`DELETE FROM ${table} WHERE ${rows(removed)}`]),
    ...(unlinked === undefined ? [] : [`UPDATE ${table} ${unlinked.set} WHERE ${rows(unlinked.where)}`]),
  ];
  const args = { ...step.args, now: step.now, ...range?.args };
  return texts.map((sql) => ({ sql, args: argsIn(args, sql) }));
}

/** Notes that an erasure begins: a restored backup is erased again, whatever becomes of this process. */
export function beginErasure(digest: string, identifier: string, now: number): Statement {
  return {
    sql: `INSERT INTO erasures (digest, begun_at, was_registered) VALUES (:digest, :now, ${HOLDS})
      ON CONFLICT (digest) DO UPDATE SET begun_at = :now, finished_at = NULL,
        was_registered = max(was_registered, excluded.was_registered)`,
    args: { digest, identifier, now },
  };
}

const HOLDS = `EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND holds = 1)`;

/** The id that names the live registrations of an identifier from now on; null where there are none. */
export function selectEarliest(identifier: string): Statement {
  return {
    sql: `SELECT min(id) AS id FROM registrations WHERE identifier = :identifier AND status <> 'failed'`,
    args: { identifier },
  };
}

/**
 * Takes the identifier out of its live registrations and its session, if `held` says that nobody registers it now. All
 * get the same name, so that the holder still holds it: DID and credential are reached as before.
 */
export function unlinkRegistrations(identifier: string, id: number | null, held: Condition): readonly Statement[] {
  const args = { identifier, ...held.args };
  const unlink = {
    sql: `UPDATE registrations SET identifier = channel || ':[' || :id || ']@erased', ip = NULL, notice_at = NULL,
        alias_hash = CASE channel WHEN 'handle' THEN alias_hash ELSE '' END,
        proof = CASE final WHEN 1 THEN NULL ELSE proof END
      WHERE identifier = :identifier AND status <> 'failed' AND ${held.sql}`,
    args: { ...args, id },
  };
  return [
    { sql: `DELETE FROM sessions WHERE identifier = :identifier AND ${held.sql}`, args },
    ...(id === null ? [] : [unlink]),
  ];
}

/** Ends an erasure, unless a recovery keeps its address: then it is to be asked for again. */
export function finishErasure(digest: string, now: number, held: Condition): Statement {
  return {
    sql: `UPDATE erasures SET finished_at = :now WHERE digest = :digest AND ${held.sql}`,
    args: { digest, now, ...held.args },
  };
}

/** How many rows keep an address because a recovery is not over. */
export function selectWaiting(args: PersonArgs): Statement {
  const sql = `SELECT (SELECT count(*) FROM recoveries WHERE identifier IS NOT NULL AND ${OF_IDENTIFIERS})
    + (SELECT count(*) FROM recovery_addresses WHERE ${OF_IDENTIFIERS})
    + (SELECT count(*) FROM recovery_contacts WHERE identifier <> '' AND ${OF_IDENTIFIERS}) AS waiting`;
  return { sql, args: argsIn(args, sql) };
}

/** How many rows of a table are the person's; of one that is searched, of a step. */
export function countOf(table: string, { args, after, last }: Omit<EraseStep, 'now'>): Statement {
  const { where, scan } = personal(table);
  const range = scan && stepOf(table, after ?? '', last);
  const sql = `SELECT count(*) AS rows FROM ${table} WHERE ${range ? `${range.sql} AND ` : ''}${where}`;
  return { sql, args: { ...argsIn(args, sql), ...range?.args } };
}

/** Erasures; a list of them is kept outside the database. */
export function selectErasures(digests: readonly string[]): Statement {
  return {
    sql: `SELECT * FROM erasures WHERE digest IN ${listed('digests')} ORDER BY digest`,
    args: { digests: JSON.stringify(digests) },
  };
}

/** Tables with identifiers in clear, in which a repeated erasure searches. */
export const IDENTIFYING_TABLES: readonly string[] = [
  'codes',
  'pass_grants',
  'verifications',
  'sessions',
  'registrations',
  'recoveries',
  'recovery_addresses',
  'recovery_contacts',
  'invites',
];

/** Each identifier of a table behind another one, in their order; for a database that is not in use. */
export function selectIdentifiers(table: string, after: string, limit: number): Statement {
  return {
    sql: `SELECT DISTINCT identifier FROM ${table} WHERE identifier > :after AND NOT ${IS_ERASED}
      ORDER BY identifier LIMIT :limit`,
    args: { after, limit },
  };
}

/** An erasure of a list, as it was; `finishedAt` is null where a recovery may still keep the address. */
interface KeptErasure {
  readonly digest: string;
  readonly begunAt: number;
  readonly wasRegistered: boolean;
  readonly finishedAt: number | null;
}

/** Writes an erasure of a list down. */
export function keepErasure({ digest, begunAt, wasRegistered, finishedAt }: KeptErasure): Statement {
  return {
    sql: `INSERT INTO erasures (digest, begun_at, was_registered, finished_at)
      VALUES (:digest, :begun_at, :was_registered, :finished_at)
      ON CONFLICT (digest) DO UPDATE SET begun_at = max(begun_at, excluded.begun_at),
        was_registered = max(was_registered, excluded.was_registered),
        finished_at = coalesce(excluded.finished_at, finished_at)`,
    args: { digest, begun_at: begunAt, was_registered: Number(wasRegistered), finished_at: finishedAt },
  };
}

/** Erasures, behind a digest. */
export function selectErasuresAfter(digest: string, limit: number): Statement {
  return {
    sql: `SELECT * FROM erasures WHERE digest > :digest ORDER BY digest LIMIT :limit`,
    args: { digest, limit },
  };
}

/** Brings the log into the file and empties it: it holds pages as they were. One row, with `busy` 0 if it could. */
export const EMPTY_LOG: Statement = { sql: 'PRAGMA wal_checkpoint(TRUNCATE)', args: {} };
