// bun scripts/baseline.ts VERSION: writes lib/db/schema-baseline.ts, the tables as the migrations up to that version
// leave them. A test fails when the two differ.
import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../commands/storage/sqlite.ts';
import { systemClock } from '../lib/base/clock.ts';
import { migrate } from '../lib/db/migrations.ts';
import { MIGRATIONS } from '../lib/db/schema.ts';

const FILE = join(import.meta.dir, '../lib/db/schema-baseline.ts');
const COLUMNS_MAX = 112;

const version = Number(process.argv[2]);
if (!MIGRATIONS.some((migration) => migration.version === version))
  throw new Error('name the version of a migration that is published');

const folder = mkdtempSync(join(tmpdir(), 'vault-baseline-'));
const path = join(folder, 'vault.db');
const sqlite = openSqlite(path);
await migrate(
  sqlite,
  systemClock,
  MIGRATIONS.filter((migration) => migration.version <= version),
);
sqlite.close();
const database = new Database(path, { readonly: true });
// Tables first, and in the order in which they were made: indexes and triggers need theirs.
const kinds = `CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 ELSE 2 END`;
const made = database
  .query(`SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name <> 'migrations'
    ORDER BY ${kinds}, rowid`)
  .all() as { name: string; type: string; sql: string }[];
const tables = made.filter(({ type }) => type === 'table').map(({ name }) => name);
const rows = tables.flatMap((table) => {
  const values = database.query(`SELECT * FROM ${table}`).values() as (string | number | null)[][];
  if (values.length === 0) return [];
  const shown = values.map((row) => `(${row.map((one) => (typeof one === 'string' ? `'${one}'` : one)).join(', ')})`);
  return [`INSERT INTO ${table} VALUES ${shown.join(', ')}`];
});
// Triggers would count the rows once more.
const statements = [...made.filter(({ type }) => type !== 'trigger').map(({ sql }) => sql), ...rows].concat(
  made.filter(({ type }) => type === 'trigger').map(({ sql }) => sql),
);

database.close();
rmSync(folder, { recursive: true });
await Bun.write(FILE, textOf(statements));
await Bun.spawn(['biome', 'check', '--write', FILE], { stdout: 'ignore', stderr: 'inherit' }).exited;

function textOf(all: readonly string[]): string {
  return `// Written by \`bun scripts/baseline.ts ${version}\` from the migrations: change it there.

/**
 * The tables as the migrations up to a version leave an empty database. A new one begins with them: each change of a
 * table takes the engine longer than the table itself.
 */
export const BASELINE: Baseline = {
  upTo: ${version},
  statements: [
${all.map((sql) => `    \`${wrapped(sql)}\`,`).join('\n')}
  ],
};

/** Tables made at once in place of the migrations up to a version. */
export interface Baseline {
  readonly upTo: number;
  readonly statements: readonly string[];
}
`;
}

/** The text in lines; no string in it has two blanks. */
function wrapped(sql: string): string {
  const lines = [''];
  for (const word of sql
    .replace(/\s+/g, ' ')
    .replaceAll('( ', '(')
    .replaceAll(' )', ')')
    .replaceAll(' ,', ',')
    .split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length >= COLUMNS_MAX) lines.push(`      ${word}`);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join('\n');
}
