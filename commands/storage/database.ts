import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../../lib/config/config.ts';
import { pendingMigrations } from '../../lib/db/migrations.ts';
import type { Tuning } from './connection.ts';
import { openServer, type ServerSettings } from './server.ts';
import { type EmbeddedDatabase, type OwnedDatabase, openSqlite } from './sqlite.ts';

/** A database and how it is opened. */
export interface DatabaseSettings extends ServerSettings {
  /** How the embedded engine is opened. */
  readonly tuning?: Tuning;
}

/** The database of the settings. */
export function databaseOf(config: Config): DatabaseSettings {
  return {
    url: config.databaseUrl,
    authToken: config.databaseAuthToken,
    maxConnections: config.databaseMaxConnections,
    tuning: { checkpoint: config.databaseCheckpoint },
  };
}

/**
 * Opens the database of a `DATABASE_URL`: `file:` is the built-in SQLite; `libsql:`, `http(s):` and `ws(s):` are a
 * libSQL server, called over HTTP from the first statement on. Throws if the URL is invalid or the file cannot be
 * opened; no error contains a URL or a token.
 */
export async function openDatabase(settings: DatabaseSettings): Promise<OwnedDatabase> {
  return /^file:/i.test(settings.url) ? openFile(settings) : openServer(settings);
}

/** Opens a `file:` URL. Throws as `openDatabase` does. */
export function openFile({ url, tuning }: Pick<DatabaseSettings, 'url' | 'tuning'>): EmbeddedDatabase {
  return openSqlite(filePath(url), tuning);
}

/**
 * Opens the database of the settings without migrating it. Throws an `Error` that explains the problem if there is no
 * file yet, which opening would create, or if a newer vault has migrated it.
 */
export async function openExisting(config: Config): Promise<OwnedDatabase> {
  const { databaseUrl: url } = config;
  if (/^file:/i.test(url) && !existsSync(filePath(url))) throw noDatabase(filePath(url));
  const database = await openDatabase(databaseOf(config));
  try {
    const [pending] = await pendingMigrations(database);
    if (pending !== undefined) throw new Error('an older vault made the database: run vault migrate first');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** For the operator who named a place where no vault was started yet. */
export function noDatabase(path: string): Error {
  return new Error(
    `there is no database at ${resolve(path)}: start the vault once, or set DATA_DIR or DATABASE_URL to where it is`,
  );
}

/** The path of a `file:` URL: relative or absolute, percent-encoded where need be. */
export function filePath(url: string): string {
  if (/[?#]/.test(url)) throw new Error('DATABASE_URL: a file: URL takes neither a query nor a fragment');
  return /^file:\//i.test(url) ? Bun.fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length));
}
