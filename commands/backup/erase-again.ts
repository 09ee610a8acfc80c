import { Database as Connection } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { systemClock } from '../../lib/base/clock.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import type { Config } from '../../lib/config/config.ts';
import { createStore } from '../../lib/db/store.ts';
import type { Erasure } from '../../lib/person/erase.ts';
import { eraseAgain } from '../../lib/person/erase-again.ts';
import { prepareDatabase } from '../../lib/prepare-database.ts';
import { isEmbedded } from '../setup/settings.ts';
import { filePath } from '../storage/database.ts';
import { syncFile } from '../storage/durable.ts';
import { openSqlite } from '../storage/sqlite.ts';
import { countRows } from '../storage/tables.ts';
import type { Manifest } from './backup-file.ts';
import { erasuresFile, newestOf, readErasureList } from './erasures.ts';

/** The erased people: by the list of DATA_DIR, by another one, and by the database that a restore replaces. */
export function erasuresOf(config: Config, path: string | undefined): ReadonlyMap<string, Erasure> {
  const lists = [erasuresFile(config.dataDir), ...(path === undefined ? [] : [path])].map(readErasureList);
  const own = isEmbedded(config.databaseUrl) ? erasuresIn(filePath(config.databaseUrl)) : [];
  return newestOf([...lists.flatMap((list) => [...list.values()]), ...own]);
}

/**
 * The erasures of a file; none if it is not a database of this release. It keeps the journal mode: a restore that
 * changed it and was killed would leave a journal beside the file.
 */
function erasuresIn(path: string): readonly Erasure[] {
  if (!existsSync(path)) return [];
  try {
    const connection = new Connection(path, { readwrite: true, create: false, strict: true });
    try {
      const rows = connection.query('SELECT digest, begun_at, was_registered FROM erasures').values();
      return rows.map(([digest, begunAt, registered]) => ({
        digest: String(digest),
        begunAt: Number(begunAt),
        wasRegistered: registered === 1,
      }));
    } finally {
      connection.close();
    }
  } catch (error) {
    // No such table, no database, a damaged one.
    if (/^SQLITE_(?:ERROR|NOTADB|CORRUPT)/.test(String((error as { code?: unknown }).code))) return [];
    throw error;
  }
}

/** Ends the tokens of all operators in a draft: one that was revoked since would be good again. How many there were. */
export function endOperatorsIn(draft: string): number {
  const connection = new Connection(draft, { readwrite: true, create: false, strict: true });
  try {
    const table = connection.query(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'operators'`).get();
    // A request for a token of the stream from before the end must not open one.
    if (table !== null)
      connection.run(`INSERT OR IGNORE INTO token_revocations (cid, revoked_at, expires_at)
        SELECT id, unixepoch() * 1000, expires_at FROM operators`);
    const ended = table === null ? 0 : connection.run('DELETE FROM operators').changes;
    connection.run('PRAGMA journal_mode = DELETE');
    return ended;
  } finally {
    connection.close();
  }
}

const CURRENT = { isCurrent: true };

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
