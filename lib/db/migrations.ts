import type { Clock } from '../base/clock.ts';
import type { Database } from './database.ts';
import { retryBusy } from './errors.ts';
import { MIGRATIONS, type Migration } from './schema.ts';

/** Is called before a migration of a database that is not new, with how many are left, itself included. */
export type Begins = (migration: Migration, left: number) => void;

/**
 * Migrates the tables and returns the migrations that this call applied. Many processes may call it at once on one
 * database: each commit begins by recording its version, so all but one are rolled back. Throws as `pendingMigrations`
 * does.
 */
export async function migrate(
  database: Database,
  clock: Clock,
  list = MIGRATIONS,
  begins: Begins = () => undefined,
): Promise<readonly Migration[]> {
  const pending = await retryBusy(clock, () => pendingMigrations(database, list));
  const isNew = pending.length === list.length;
  const applied: Migration[] = [];
  // Each in a commit of its own: a process that ends keeps those before it.
  for (const [i, migration] of pending.entries()) {
    if (!isNew) begins(migration, pending.length - i);
    if (await apply(database, clock, migration)) applied.push(migration);
  }
  return applied;
}

/** The migrations that the database lacks, oldest first. Throws why this vault cannot use it. */
export async function pendingMigrations(database: Database, list = MIGRATIONS): Promise<readonly Migration[]> {
  const recorded = await recordedMigrations(database);
  const misfit = misfitOf(recorded, list);
  if (misfit !== undefined) throw new Error(`the database ${misfit.problem}: ${misfit.remedy}`);
  return list.filter(({ version }) => !recorded.has(version));
}

/** The versions that a database has, with their names. */
export type Recorded = ReadonlyMap<number, string>;

/** Finds the table in which migrations are recorded. */
export const FIND_MIGRATIONS = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'`;

/** Reads the recorded migrations. */
export const SELECT_MIGRATIONS = `SELECT version, name FROM migrations`;

/** The rows of `SELECT_MIGRATIONS` as a map. */
export function recordedOf(rows: Iterable<Readonly<Record<string, unknown>>>): Recorded {
  return new Map(Array.from(rows, (row) => [Number(row['version']), String(row['name'])]));
}

/** Why this vault cannot use a database, and the remedy. */
export interface Misfit {
  readonly problem: string;
  readonly remedy: string;
}

/** Why this vault cannot use a database with these migrations; undefined where it can. */
export function misfitOf(recorded: Recorded, list = MIGRATIONS): Misfit | undefined {
  if (recorded.size === 0) return undefined;
  const [first] = list;
  // Trees from before the first release counted migrations of their own.
  if (first !== undefined && recorded.get(first.version) !== first.name)
    return {
      problem: 'has tables from before the first release, which cannot be migrated',
      remedy: 'begin with a new one (DATA_DIR, DATABASE_URL), or run the vault that made it',
    };
  const found = Math.max(...recorded.keys());
  const newest = Math.max(...list.map(({ version }) => version));
  if (found <= newest) return undefined;
  return {
    problem: `has schema version ${found}, and this vault knows only ${newest}`,
    remedy: 'run a vault at least as new as the one that migrated it',
  };
}

async function recordedMigrations(database: Database): Promise<Recorded> {
  const { rows: tables } = await database.execute({ sql: FIND_MIGRATIONS, args: {} });
  if (tables.length === 0) return new Map();
  const { rows } = await database.execute({ sql: SELECT_MIGRATIONS, args: {} });
  return recordedOf(rows);
}

/** False when another process applied it first. */
async function apply(database: Database, clock: Clock, { version, name, statements }: Migration): Promise<boolean> {
  const record = { sql: INSERT_MIGRATION, args: { version: BigInt(version), name, now: BigInt(clock.now()) } };
  const batch = [CREATE_MIGRATIONS, record, ...statements.map((sql) => ({ sql, args: {} }))];
  try {
    await retryBusy(clock, () => database.batch(batch, 'write'));
    return true;
  } catch (error) {
    // The recorded version decides, even if the reply was lost after the commit.
    if ((await recordedMigrations(database)).get(version) === name) return false;
    throw error;
  }
}

const CREATE_MIGRATIONS = {
  sql: `CREATE TABLE IF NOT EXISTS migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at INTEGER NOT NULL
  ) STRICT`,
  args: {},
};

const INSERT_MIGRATION = `INSERT INTO migrations (version, name, applied_at) VALUES (:version, :name, :now)`;
