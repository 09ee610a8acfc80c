import type { Database } from './database.ts';
import { VERSIONS } from './versions.ts';

/** The versions of the migrations that a database has. */
export async function appliedVersions(database: Database): Promise<ReadonlySet<number>> {
  const { rows: tables } = await database.execute(FIND_MIGRATIONS);
  if (tables.length === 0) return new Set();
  const { rows } = await database.execute(SELECT_VERSIONS);
  return new Set(rows.map((row) => Number(row['version'])));
}

/** Whether a database has every migration, and none of a newer vault. */
export async function isUpToDate(database: Database): Promise<boolean> {
  const applied = await appliedVersions(database);
  return applied.size === VERSIONS.length && VERSIONS.every((version) => applied.has(version));
}

const FIND_MIGRATIONS = {
  sql: `SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'`,
  args: {},
};

const SELECT_VERSIONS = { sql: `SELECT version FROM migrations`, args: {} };
