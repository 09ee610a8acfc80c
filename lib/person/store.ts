import { argsIn, type Row, type Statement, type Value } from '../db/database.ts';
import { IS_ERASED } from '../identity/erasure.ts';
import { type PersonalTable, TABLES } from './table-store.ts';
import { PROVES_DID } from './where-store.ts';

/** The values by which rows are found, under the names in the tables' conditions: JSON lists. */
export type PersonArgs = Readonly<Record<string, Value>>;

/** Rows of registrations that are read to find a person, at most. */
export const REGISTRATIONS_READ_MAX = 1_000;

// An address or a number passes on to other people: it names its present holder, and leads to no earlier one.
const COLUMNS = `id, identifier, did, did_hash, controller, ${PROVES_DID} AND holds = 1 AS proves,
  ${IS_ERASED} AS is_erased`;

/** The links from a registration to a person. */
export interface PersonLink {
  readonly identifier: string;
  readonly did: string;
  readonly controller: string | null;
  /** The passkey of the DID's controller signed for it, in a final block. */
  readonly proves: boolean;
  /** Its identifier is erased already. */
  readonly isErased: boolean;
}

/** The registrations of identifiers, the newest first. */
export function selectLinksOf(identifiers: readonly string[]): Statement {
  const of = (status: string) => `SELECT ${COLUMNS} FROM registrations
    WHERE identifier IN (SELECT value FROM json_each(:identifiers)) AND ${status}`;
  return {
    sql: `${of(`status <> 'failed'`)} UNION ALL ${of(`status = 'failed'`)} ORDER BY id DESC LIMIT :limit`,
    args: { identifiers: JSON.stringify(identifiers), limit: REGISTRATIONS_READ_MAX },
  };
}

/** The live registrations of DIDs, by their hashes, the newest first. */
export function selectLinksOfDids(didHashes: readonly string[]): Statement {
  return {
    sql: `SELECT ${COLUMNS} FROM registrations WHERE did_hash IN (SELECT value FROM json_each(:did_hashes))
      AND status <> 'failed' ORDER BY id DESC LIMIT :limit`,
    args: { did_hashes: JSON.stringify(didHashes), limit: REGISTRATIONS_READ_MAX },
  };
}

/** Reads a row of both. */
export function toLink(row: Row): PersonLink {
  return {
    identifier: String(row['identifier']),
    did: String(row['did']),
    controller: row['controller'] === null ? null : String(row['controller']),
    proves: Number(row['proves']) === 1,
    isErased: Number(row['is_erased']) === 1,
  };
}

/** The key up to which a step of `rows` rows behind `after` goes; no row if fewer are left. */
export function selectStepEnd(table: string, after: string, rows: number): Statement {
  const { key, scan } = personal(table);
  return {
    sql: `SELECT ${key} AS last FROM ${table} WHERE ${key} > :after ORDER BY ${key} LIMIT 1 OFFSET :rows`,
    args: { after: keyOf(scan, after), rows: rows - 1 },
  };
}

/** The person's rows of a step; without `last` up to the end. */
export function selectOfStep(table: string, args: PersonArgs, after: string, last: string | undefined): Statement {
  const { key, where } = personal(table);
  const step = stepOf(table, after, last);
  const sql = `SELECT * FROM ${table} WHERE ${step.sql} AND ${where} ORDER BY ${key}`;
  return { sql, args: { ...argsIn(args, sql), ...step.args } };
}

/** True of the rows of a step. */
export function stepOf(table: string, after: string, last: string | undefined): Statement {
  const { key, scan } = personal(table);
  return {
    sql: `${key} > :after${last === undefined ? '' : ` AND ${key} <= :last`}`,
    args: { after: keyOf(scan, after), ...(last === undefined ? {} : { last: keyOf(scan, last) }) },
  };
}

/** The person's rows of a table whose index leads to them. */
export function selectOfPerson(table: string, args: PersonArgs, offset: number, limit: number): Statement {
  const { key, where } = personal(table);
  const sql = `SELECT * FROM ${table} WHERE ${where} ORDER BY ${key} LIMIT :limit OFFSET :offset`;
  return { sql, args: { ...argsIn(args, sql), limit, offset } };
}

/** The entry of a table with rows of persons. */
export function personal(table: string): PersonalTable {
  const entry = TABLES[table];
  if (entry === undefined || 'none' in entry) throw new RangeError(`no rows of persons are in ${table}`);
  return entry;
}

/** Columns of numbers are compared with numbers. */
function keyOf(scan: PersonalTable['scan'], text: string): Value {
  return scan === 'number' ? Number(text) : text;
}
