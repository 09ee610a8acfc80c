import { Database as Connection } from 'bun:sqlite';
import { FIND_MIGRATIONS, misfitOf, type Recorded, recordedOf, SELECT_MIGRATIONS } from '../../lib/db/migrations.ts';
import { MIGRATIONS } from '../../lib/db/schema.ts';

/** A table, index or trigger as `sqlite_schema` lists it. */
export interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string;
}

/**
 * Everything that was made on purpose, in the order it was made: neither SQLite's own tables nor those of a libSQL
 * server or of Litestream. A trigger or a view always counts, under any name.
 */
export const SELECT_SCHEMA = `SELECT type, name, tbl_name, sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND NOT (type IN ('table', 'index') AND (tbl_name LIKE 'sqlite\\_%' ESCAPE '\\'
    OR tbl_name LIKE '\\_litestream\\_%' ESCAPE '\\' OR tbl_name LIKE 'libsql\\_%' ESCAPE '\\')) ORDER BY rowid`;

/** How many rows each table holds. */
export function countRows(connection: Connection): Record<string, number> {
  const tables = (connection.query(SELECT_SCHEMA).all() as SchemaObject[]).filter(({ type }) => type === 'table');
  return Object.fromEntries(
    tables.map(({ name }) => {
      const row = connection.query(`SELECT count(*) AS rows FROM ${quote(name)}`).get() as { rows: number | bigint };
      return [name, Number(row.rows)];
    }),
  );
}

/** The migrations that are recorded in the file. */
export function recordedIn(connection: Connection): Recorded {
  if (connection.query(FIND_MIGRATIONS).get() === null) return new Map();
  return recordedOf(connection.query(SELECT_MIGRATIONS).all() as Record<string, unknown>[]);
}

/**
 * Throws an `Error` that explains the problem unless the file is intact, its tables match its schema version, no
 * reference dangles and the number of rows matches `rows`.
 */
export function checkContents(connection: Connection, rows: Readonly<Record<string, number>>): void {
  const [whole] = connection.query('PRAGMA integrity_check(1)').values();
  if (whole?.[0] !== 'ok') throw new Error(`the database is damaged: ${whole?.[0]}`);
  const recorded = recordedIn(connection);
  const misfit = misfitOf(recorded);
  if (misfit !== undefined) throw new Error(`it ${misfit.problem}: ${misfit.remedy}`);
  const strange = differenceOf(describeSchema(expectedSchema(recorded)), describeSchema(connection));
  if (strange !== undefined) throw new Error(`its tables differ from those of a vault: ${strange}`);
  const [dangling] = connection.query('PRAGMA foreign_key_check').values();
  if (dangling !== undefined) throw new Error(`a row of ${dangling[0]} refers to a missing row`);
  const counted = differences(describeRows(rows), describeRows(countRows(connection)));
  if (counted !== undefined) throw new Error(`its number of rows is wrong: ${counted}`);
}

/** The columns that tell a table's rows apart and that it can be read in the order of. */
export function keyColumns(connection: Connection, table: string): string[] {
  const rows = connection
    .query('SELECT name FROM pragma_table_info(:table) WHERE pk > 0 ORDER BY pk')
    .all({ table }) as { name: string }[];
  if (rows.length === 0) throw new Error(`the table ${table} has no primary key`);
  return rows.map(({ name }) => name);
}

/** A quoted SQL name, safe for any characters. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The schema that the recorded migrations make. */
function expectedSchema(recorded: Recorded): Connection {
  const connection = new Connection(':memory:');
  connection.run(
    'CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  for (const migration of MIGRATIONS) {
    if (recorded.has(migration.version)) for (const sql of migration.statements) connection.run(sql);
  }
  return connection;
}

/**
 * The definition of each table, index and trigger by its name: a missing constraint or a strange trigger would act
 * unseen. A migration by another release of SQLite may have spaced or quoted a name in another way.
 */
function describeSchema(connection: Connection): Map<string, string> {
  const objects = connection.query(SELECT_SCHEMA).all() as SchemaObject[];
  return new Map(objects.map(({ type, name, tbl_name, sql }) => [`${type} ${name} of ${tbl_name}`, normalSql(sql)]));
}

/** Spaced in one way, and without quotes around names. */
function normalSql(sql: string): string {
  return sql
    .replace(/"(\w+)"/g, '$1')
    .replace(/\s+/g, ' ')
    .replace(/ ?([(),]) ?/g, '$1');
}

function differenceOf(expected: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string | undefined {
  const names = differences(new Set(expected.keys()), new Set(found.keys()));
  if (names !== undefined) return names;
  const [changed] = [...expected].filter(([name, sql]) => found.get(name) !== sql);
  return changed && `another definition of ${changed[0]}`;
}

function describeRows(rows: Readonly<Record<string, number>>): Set<string> {
  return new Set(Object.entries(rows).map(([table, count]) => `${count} rows of ${table}`));
}

function differences(expected: ReadonlySet<string>, found: ReadonlySet<string>): string | undefined {
  const [missing] = [...expected].filter((one) => !found.has(one));
  const [strange] = [...found].filter((one) => !expected.has(one));
  if (missing === undefined && strange === undefined) return undefined;
  return [missing && `no ${missing}`, strange && `but ${strange}`].filter(Boolean).join(', ');
}

/** How much of the file is read: a table with more rows is left out unless all is. */
export interface Extent {
  readonly isFull?: boolean;
  readonly rowsMax?: number;
}

/** Reading so many rows takes a second at most, also from a disk. */
const ROWS_MAX = 100_000;

/** The damage, if any, and the tables that were left out. With all tables the whole file is checked. */
export function checkTables(
  connection: Connection,
  { isFull = false, rowsMax = ROWS_MAX }: Extent,
): { readonly damage: string | undefined; readonly left: readonly string[] } {
  const names = connection.query(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).values();
  const tables = names.map(([name]) => String(name));
  const isLarge = (table: string) =>
    connection.query(`SELECT 1 FROM "${table}" LIMIT 1 OFFSET ${rowsMax}`).values().length > 0;
  const left = isFull ? [] : tables.filter(isLarge);
  const read = tables.filter((table) => !left.includes(table));
  const checks = left.length === 0 ? ['1'] : read.map((table) => `"${table}"`);
  for (const what of checks) {
    const [[found] = []] = connection.query(`PRAGMA quick_check(${what})`).values();
    if (found !== 'ok') return { damage: String(found), left };
  }
  return { damage: undefined, left };
}
