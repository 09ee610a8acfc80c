import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@libsql/client/http';
import { type Clock, systemClock } from '../../lib/base/clock.ts';
import { callUpstream } from '../../lib/base/http-client.ts';
import type { Config } from '../../lib/config/config.ts';
import { pendingMigrations } from '../../lib/db/migrations.ts';
import type { Tuning } from './connection.ts';
import { type OwnedDatabase, openSqlite } from './sqlite.ts';

/** How long a libSQL server may take, and the longest answer that is read. */
export const DATABASE_TIMEOUT_MS = 10_000;
const DATABASE_ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** A database and how it is opened. */
export interface DatabaseSettings {
  readonly url: string;
  readonly authToken?: string | undefined;
  readonly maxConnections: number;
  readonly clock?: Clock;
  /** Memory of the embedded engine. */
  readonly tuning?: Tuning;
}

/** The database of the settings. */
export function databaseOf(config: Config): DatabaseSettings {
  return {
    url: config.databaseUrl,
    authToken: config.databaseAuthToken,
    maxConnections: config.databaseMaxConnections,
    tuning: { cacheMb: config.databaseCacheMb, mmapMb: config.databaseMmapMb },
  };
}

/**
 * Opens the database of a `DATABASE_URL`: `file:` is the built-in SQLite; `libsql:`, `http(s):` and `ws(s):` are a
 * libSQL server, called over HTTP from the first statement on. Throws if the URL is invalid or the file cannot be
 * opened; no error contains a URL or a token.
 */
export async function openDatabase(settings: DatabaseSettings): Promise<OwnedDatabase> {
  return /^file:/i.test(settings.url) ? openSqlite(filePath(settings.url), settings.tuning) : openServer(settings);
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

/**
 * A libSQL server as its own client, for what the port leaves out; `intMode` bigint keeps integers exact. Throws as
 * `openDatabase` does.
 */
export async function openServer(
  { url, authToken, maxConnections, clock = systemClock }: DatabaseSettings,
  intMode: 'number' | 'bigint' = 'number',
): Promise<Client> {
  // Loaded only where it is needed: most vaults live on a file, and start faster without it. This entry holds no native
  // addon.
  const { createClient } = await import('@libsql/client/http');
  try {
    return createClient({
      // A server that speaks WebSocket speaks HTTP on the same port, and only there does a lost answer end by a
      // timeout.
      url: url.replace(/^ws(?=s?:)/i, 'http'),
      ...(authToken ? { authToken } : {}),
      concurrency: maxConnections,
      intMode,
      fetch: boundedFetch(clock),
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new Error(`DATABASE_URL is neither a file: URL nor the URL of a libSQL server${code}`);
  }
}

/** Whether a libSQL server was not there, or not well: it may be later. One that refuses the token never will be. */
export function isServerAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return code === NO_ANSWER || (code === 'SERVER_ERROR' && /HTTP status (?:5\d\d|429)/.test(error.message));
}

const NO_ANSWER = 'NO_ANSWER';

/** For the operator who named a place where no vault was started yet. */
export function noDatabase(path: string): Error {
  return new Error(
    `there is no database at ${resolve(path)}: start the vault once, or set DATA_DIR or DATABASE_URL to where it is`,
  );
}

/** The path of a `file:` URL: relative or absolute, percent-encoded where need be. */
export function filePath(url: string): string {
  if (/[?#]/.test(url)) throw new Error('DATABASE_URL: a file: URL takes neither a query nor a fragment');
  return /^file:\//i.test(url) ? fileURLToPath(url) : decodeURIComponent(url.slice('file:'.length));
}

/**
 * The client bounds neither the time nor the size of an answer, and a runtime's errors carry the whole URL, user name
 * and password included.
 */
function boundedFetch(clock: Clock) {
  const limits = { timeoutMs: DATABASE_TIMEOUT_MS, maxBytes: DATABASE_ANSWER_BYTES_MAX };
  return async (request: Request): Promise<Response> => {
    const { url, headers } = request;
    const call = { url, method: 'POST', headers: Object.fromEntries(headers), body: await request.text() } as const;
    try {
      const { status, text } = await callUpstream({ fetch, clock }, call, limits);
      const type = status === 200 ? 'application/json' : 'text/plain';
      return new Response(text, { status, headers: { 'content-type': type } });
    } catch (error) {
      throw Object.assign(new Error('The database server does not answer', { cause: error }), { code: NO_ANSWER });
    }
  };
}
