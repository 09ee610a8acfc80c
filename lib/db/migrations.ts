import type { Clock } from '../base/clock.ts';
import { appliedVersions } from './applied.ts';
import type { Database } from './database.ts';
import { retryBusy } from './errors.ts';
import { MIGRATIONS, type Migration } from './schema.ts';
import { BASELINE, type Baseline } from './schema-baseline.ts';

/**
 * Migrates the tables and returns what this call applied. Many processes may call it at once on one database: a batch
 * begins by recording its versions, so all but one are rolled back. An empty database begins with the tables of
 * `baseline`. Throws what `pendingMigrations` throws.
 */
export async function migrate(
  database: Database,
  clock: Clock,
  list = MIGRATIONS,
  baseline: Baseline | undefined = list === MIGRATIONS ? BASELINE : undefined,
  begins: Begins = () => undefined,
): Promise<readonly Migration[]> {
  const pending = await retryBusy(clock, () => pendingMigrations(database, list));
  if (pending.length === 0) return pending;
  // An empty database's in one commit, since each commit waits for the disk.
  const isEmpty = pending.length === list.length;
  if (isEmpty && (await apply(database, clock, pending, baseline).catch(() => false))) return pending;
  // Those of a full one may write much: each has a commit of its own, and a process that ends keeps those before it.
  const applied: Migration[] = [];
  const left = isEmpty ? await retryBusy(clock, () => pendingMigrations(database, list)) : pending;
  for (const migration of left) {
    begins(migration, left.length - left.indexOf(migration));
    if (await apply(database, clock, [migration])) applied.push(migration);
  }
  return applied;
}

/** Is called before a migration of a database that is not empty, with how many are left, itself included. */
export type Begins = (migration: Migration, left: number) => void;

/** The migrations that the database lacks, oldest first. Throws when a newer vault has already migrated it. */
export async function pendingMigrations(database: Database, list = MIGRATIONS): Promise<readonly Migration[]> {
  const applied = await appliedVersions(database);
  const newest = Math.max(0, ...list.map(({ version }) => version));
  const found = Math.max(0, ...applied);
  if (found > newest) {
    throw new Error(
      `The database has schema version ${found}, this vault knows only ${newest}: ` +
        'run a vault at least as new as the one that migrated it.',
    );
  }
  return list.filter(({ version }) => !applied.has(version));
}

/** False when another process applied some of them first. The tables of `start` replace the migrations up to it. */
async function apply(
  database: Database,
  clock: Clock,
  migrations: readonly Migration[],
  start: Baseline = { upTo: 0, statements: [] },
): Promise<boolean> {
  const now = BigInt(clock.now());
  const statements: Parameters<Database['batch']>[0] = [];
  const record = ({ version, name }: Migration) =>
    statements.push({ sql: INSERT_MIGRATION, args: { version: BigInt(version), name, now } });
  for (const migration of migrations) if (migration.version <= start.upTo) record(migration);
  for (const sql of start.statements) statements.push({ sql, args: {} });
  for (const migration of migrations) {
    if (migration.version <= start.upTo) continue;
    record(migration);
    const found = await retryBusy(clock, async () => migration.read?.(database));
    for (const sql of migration.statements) {
      const needsIt = found !== undefined && sql.includes(':read');
      statements.push({ sql, args: needsIt ? { read: found } : {} });
    }
  }
  try {
    await retryBusy(clock, () => database.batch([CREATE_MIGRATIONS, ...statements], 'write'));
    return true;
  } catch (error) {
    // The recorded versions decide, even if the reply was lost after the commit.
    const applied = await appliedVersions(database);
    if (migrations.some(({ version }) => applied.has(version))) return false;
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
