import { Database as Connection } from 'bun:sqlite';
import { join } from 'node:path';
import type { Client, InStatement } from '@libsql/client/http';
import { systemClock } from '../../lib/base/clock.ts';
import type { Config } from '../../lib/config/config.ts';
import { retryBusy } from '../../lib/db/errors.ts';
import { counted, type Progress } from '../cli/progress.ts';
import { makeDataDirectory } from '../setup/secrets.ts';
import { databaseOf } from '../storage/database.ts';
import { draftOf, whileDrafting } from '../storage/durable.ts';
import { openServer } from '../storage/server.ts';
import { quote, type SchemaObject, SELECT_SCHEMA } from '../storage/tables.ts';
import type { Manifest } from './backup-file.ts';
import { checkRoom } from './room.ts';
import { COPY_ROWS_MAX } from './snapshot.ts';
import { unsealAgain } from './unseal-again.ts';

/**
 * Fills an empty libSQL database from a checked backup, of which DATA_DIR holds a copy meanwhile, in batches, because a
 * server limits a transaction to seconds.
 * The table of migrations, which every vault needs, comes last, together with removing the mark of an unfinished
 * restore. Run an interrupted restore again: it starts from the beginning. Throws an `Error` that explains the problem.
 */
export async function restoreRemote(
  config: Config,
  path: string,
  manifest: Manifest,
  progress: Progress,
  eraseIn: (draft: string) => Promise<Manifest['rows']> = async () => manifest.rows,
): Promise<void> {
  makeDataDirectory(config.dataDir);
  const draft = draftOf(join(config.dataDir, 'restore.draft'));
  checkRoom(manifest.bytes, config.dataDir, 'a restore');
  await whileDrafting(draft, async () => {
    await unsealAgain(path, manifest, draft);
    const rows = await eraseIn(draft);
    await fillServer(config, draft, { ...manifest, rows }, progress);
  });
}

async function fillServer(config: Config, path: string, manifest: Manifest, progress: Progress): Promise<void> {
  const backup = new Connection(path, { readonly: true, strict: true, safeIntegers: true });
  const client = await openServer(databaseOf(config), 'bigint');
  try {
    const objects = backup.query(SELECT_SCHEMA).all() as SchemaObject[];
    const tables = objects.filter(({ type, name }) => type === 'table' && name !== LAST);
    await begin(client, manifest);
    await write(
      client,
      tables.map(({ sql }) => sql),
    );
    for (const { name } of tables) await fill(client, backup, name, progress);
    await write(client, await sequences(backup));
    await write(
      client,
      objects.filter(({ type }) => type !== 'table').map(({ sql }) => sql),
    );
    await checkRows(client, manifest);
    const last = objects.filter(({ name }) => name === LAST).map(({ sql }) => sql);
    await write(client, [...last, ...statementsOf(backup, LAST), `DROP TABLE ${MARK}`]);
  } finally {
    client.close();
    backup.close();
  }
}

const LAST = 'migrations';
const MARK = 'unfinished_restore';

/** Marks the database, or removes what a restore that died has left. */
async function begin(client: Client, { sha256 }: Manifest): Promise<void> {
  const { rows } = await client.execute(SELECT_SCHEMA);
  const tables = (rows as unknown as SchemaObject[]).filter(({ type }) => type === 'table').map(({ name }) => name);
  if (tables.length > 0 && !tables.includes(MARK))
    throw new Error('the database already has tables: create an empty one and set DATABASE_URL to it');
  // Tables that others refer to go last.
  const drops = tables.reverse().map((name) => `DROP TABLE ${quote(name)}`);
  await write(client, [
    ...drops,
    `CREATE TABLE ${MARK} (sha256 TEXT PRIMARY KEY) STRICT`,
    { sql: `INSERT INTO ${MARK} (sha256) VALUES (:sha256)`, args: { sha256 } },
  ]);
}

async function fill(client: Client, backup: Connection, table: string, progress: Progress): Promise<void> {
  let batch: InStatement[] = [];
  let [waiting, written] = [0, 0];
  for (const { statement, rows } of rowsOf(backup, table)) {
    batch.push(statement);
    waiting += rows;
    if (waiting < COPY_ROWS_MAX) continue;
    await write(client, batch);
    written += waiting;
    progress.say(`${table}: ${counted(written, 'row')}`);
    [batch, waiting] = [[], 0];
  }
  await write(client, batch);
}

/** Rows that one statement writes: the server parses the text of each. */
const ROWS_OF_STATEMENT = 50;

/** Statements that write a table's rows, and how many each writes. */
function* rowsOf(backup: Connection, table: string): Generator<{ statement: InStatement; rows: number }> {
  const select = backup.query(`SELECT * FROM ${quote(table)}`);
  const names = select.columnNames.map(quote).join(', ');
  const one = `(${select.columnNames.map(() => '?').join(', ')})`;
  const insert = (values: readonly Cell[][]) => ({
    statement: {
      sql: `INSERT INTO ${quote(table)} (${names}) VALUES ${values.map(() => one).join(', ')}`,
      args: values.flat(),
    },
    rows: values.length,
  });
  let some: Cell[][] = [];
  for (const row of select.iterate() as Iterable<Record<string, Cell>>) {
    some.push(Object.values(row));
    if (some.length < ROWS_OF_STATEMENT) continue;
    yield insert(some);
    some = [];
  }
  if (some.length > 0) yield insert(some);
}

function statementsOf(backup: Connection, table: string): InStatement[] {
  return Array.from(rowsOf(backup, table), ({ statement }) => statement);
}

type Cell = string | bigint | null;

/** The highest ids ever given out, so that none is given twice. */
async function sequences(backup: Connection): Promise<readonly InStatement[]> {
  return ['DELETE FROM sqlite_sequence', ...statementsOf(backup, 'sqlite_sequence')];
}

async function checkRows(client: Client, { rows }: Manifest): Promise<void> {
  for (const [table, expected] of Object.entries(rows)) {
    if (table === LAST) continue;
    const { rows: answer } = await client.execute(`SELECT count(*) AS rows FROM ${quote(table)}`);
    const found = Number(answer[0]?.['rows']);
    if (found !== expected)
      throw new Error(`${table} has ${found} rows after it was filled with ${expected}: restore it again`);
  }
}

async function write(client: Client, statements: readonly InStatement[]): Promise<void> {
  if (statements.length > 0) await retryBusy(systemClock, () => client.batch([...statements], 'write'));
}
