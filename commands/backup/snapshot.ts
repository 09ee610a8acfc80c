import { Database as Connection } from 'bun:sqlite';
import { closeSync, openSync } from 'node:fs';
import type { Client, Transaction } from '@libsql/client/http';
import { DATABASE_LOCK_TIMEOUT_MS } from '../../lib/db/errors.ts';
import { counted, type Progress } from '../cli/progress.ts';
import { keepLogLeftOpen, type Tuning } from '../storage/connection.ts';
import { keyColumns, quote, type SchemaObject, SELECT_SCHEMA } from '../storage/tables.ts';

/** Rows read or written at once. */
export const COPY_ROWS_MAX = 500;

/**
 * Copies a snapshot of an embedded database into a new file. Writers do not wait: the copy reads one snapshot of the
 * write-ahead log, which cannot shrink until the copy ends. The copy is not durable yet. Where another program does
 * checkpoints, the log is left as it is.
 */
export function copyEmbedded(path: string, draft: string, checkpoint: Tuning['checkpoint'] = 'auto'): void {
  // SQLite takes an empty file as the target, but would make a new one with the process's default mode.
  closeSync(openSync(draft, 'wx', 0o600));
  // The last connection that closes brings the log into the file, unless it cannot write.
  const mode = checkpoint === 'external' ? { readonly: true } : { readwrite: true, create: false };
  const connection = new Connection(path, { ...mode, strict: true });
  keepLogLeftOpen(connection, path);
  try {
    // A checkpoint must be as durable as the vault's.
    for (const pragma of [`busy_timeout = ${DATABASE_LOCK_TIMEOUT_MS}`, 'synchronous = FULL', 'fullfsync = ON'])
      connection.run(`PRAGMA ${pragma}`);
    connection.query('VACUUM INTO :draft').run({ draft });
    // The log has grown during the copy. This checkpoint does not make the vault wait; its next commit otherwise would.
    if (checkpoint !== 'external') connection.run('PRAGMA wal_checkpoint(PASSIVE)');
  } finally {
    connection.close();
  }
}

/** Copies a snapshot of a libSQL server into a new file, in one read transaction that writers do not wait for. */
export async function copyRemote(client: Client, draft: string, progress: Progress): Promise<void> {
  closeSync(openSync(draft, 'wx', 0o600));
  const copy = new Connection(draft, { readwrite: true, create: false, strict: true, safeIntegers: true });
  const source = await client.transaction('read');
  try {
    // The file is thrown away whole unless everything is in it.
    for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'foreign_keys = OFF'])
      copy.run(`PRAGMA ${pragma}`);
    const { rows } = await source.execute(SELECT_SCHEMA);
    const objects = rows as unknown as SchemaObject[];
    copy.run('BEGIN');
    for (const { type, sql } of objects) if (type === 'table') copy.run(sql);
    for (const { type, name } of objects) if (type === 'table') await copyTable(source, copy, name, progress);
    await copySequences(source, copy);
    // Triggers would count the rows a second time.
    for (const { type, sql } of objects) if (type !== 'table') copy.run(sql);
    copy.run('COMMIT');
  } finally {
    source.close();
    copy.close();
  }
}

/** Page by page along the primary key, so that memory holds one page however many rows there are. */
async function copyTable(source: Transaction, copy: Connection, table: string, progress: Progress): Promise<void> {
  const keys = keyColumns(copy, table);
  const columns = keys.map(quote).join(', ');
  const insert = insertInto(copy, table);
  let last: unknown[] | undefined;
  for (let copied = 0; ; ) {
    const args = Object.fromEntries((last ?? []).map((value, i) => [`k${i}`, value as bigint | string]));
    const after = last ? `WHERE (${columns}) > (${keys.map((_, i) => `:k${i}`).join(', ')})` : '';
    const sql = `SELECT * FROM ${quote(table)} ${after} ORDER BY ${columns} LIMIT ${COPY_ROWS_MAX}`;
    const { rows } = await source.execute({ sql, args });
    for (const row of rows) insert(row);
    copied += rows.length;
    progress.say(`${table}: ${counted(copied, 'row')}`);
    const end = rows.at(-1);
    if (end === undefined || rows.length < COPY_ROWS_MAX) return;
    last = keys.map((key) => end[key]);
  }
}

function insertInto(copy: Connection, table: string): (row: Readonly<Record<string, unknown>>) => void {
  const columns = (copy.query(`SELECT name FROM pragma_table_info(:table)`).all({ table }) as { name: string }[]).map(
    ({ name }) => name,
  );
  const places = columns.map(() => '?').join(', ');
  const statement = copy.query(`INSERT INTO ${quote(table)} (${columns.map(quote).join(', ')}) VALUES (${places})`);
  return (row) => void statement.run(...columns.map((column) => row[column] as bigint | string | number | null));
}

/** The highest ids ever given out, so that none is given twice. */
async function copySequences(source: Transaction, copy: Connection): Promise<void> {
  const { rows } = await source.execute('SELECT name, seq FROM sqlite_sequence');
  copy.run('DELETE FROM sqlite_sequence');
  const insert = insertInto(copy, 'sqlite_sequence');
  for (const row of rows) insert(row);
}
