import { Database as Connection } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { systemClock } from '../../lib/base/clock.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import type { Config } from '../../lib/config/config.ts';
import { createStore } from '../../lib/db/store.ts';
import type { Erasure } from '../../lib/person/erase.ts';
import { eraseAgain, knownErasures } from '../../lib/person/erase-again.ts';
import { prepareDatabase } from '../../lib/prepare-database.ts';
import { isEmbedded } from '../setup/settings.ts';
import { filePath } from '../storage/database.ts';
import { syncFile } from '../storage/durable.ts';
import { openSqlite } from '../storage/sqlite.ts';
import { countRows } from '../storage/tables.ts';
import type { Manifest } from './backup-file.ts';
import { erasuresFile, newestOf, readErasureList } from './erasures.ts';

/** Who was erased: by the list of DATA_DIR, by another one, and by the database that a restore replaces. */
export async function erasuresOf(config: Config, path: string | undefined): Promise<ReadonlyMap<string, Erasure>> {
  const lists = [erasuresFile(config.dataDir), ...(path === undefined ? [] : [path])].map(readErasureList);
  const own = isEmbedded(config.databaseUrl) ? await erasuresIn(filePath(config.databaseUrl)) : [];
  return newestOf([...lists.flatMap((list) => [...list.values()]), ...own]);
}

/** Those of a file; none where it is no database of this release. */
async function erasuresIn(path: string): Promise<readonly Erasure[]> {
  if (!existsSync(path) || !hasErasures(path)) return [];
  const database = openSqlite(path);
  try {
    const db = createStore({
      database,
      clock: systemClock,
      metrics: createMetrics(),
      maxConnections: 1,
      schema: CURRENT,
    });
    return [...(await knownErasures({ db })).values()];
  } finally {
    database.close();
  }
}

const CURRENT = { isCurrent: true };

function hasErasures(path: string): boolean {
  try {
    const connection = new Connection(path, { readonly: true, strict: true });
    try {
      return connection.query(`SELECT 1 FROM sqlite_schema WHERE name = 'erasures'`).values().length > 0;
    } finally {
      connection.close();
    }
  } catch {
    return false;
  }
}

/**
 * Erases again in the draft of a database that is restored, and writes the file anew without what was in it. Returns
 * how many identifiers that were, and the rows of each table then. Migrates the draft, if there is something to erase.
 */
export async function eraseInDraft(
  config: Config,
  draft: string,
  manifest: Manifest,
  list: ReadonlyMap<string, Erasure>,
): Promise<{ readonly erased: number; readonly rows: Manifest['rows'] }> {
  if (list.size === 0) return { erased: 0, rows: manifest.rows };
  const database = openSqlite(draft);
  let erased: number;
  try {
    await prepareDatabase(database, systemClock, config);
    const db = createStore({
      database,
      clock: systemClock,
      metrics: createMetrics(),
      maxConnections: 1,
      schema: CURRENT,
    });
    erased = await eraseAgain({ config, clock: systemClock, db }, list);
    for (const sql of ['VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)', 'PRAGMA journal_mode = DELETE'])
      await database.execute({ sql, args: {} });
  } finally {
    database.close();
  }
  syncFile(draft);
  const connection = new Connection(draft, { readonly: true, strict: true });
  try {
    return { erased, rows: countRows(connection) };
  } finally {
    connection.close();
  }
}
