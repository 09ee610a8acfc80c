import { Database as Connection } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@libsql/client';
import { openDatabase } from '../../commands/storage/database.ts';
import { type EmbeddedDatabase, openSqlite } from '../../commands/storage/sqlite.ts';
import { startWriter, type WriterThread } from '../../commands/storage/writer-thread.ts';
import type { Database } from '../../lib/db/database.ts';
import { createLibsqlDatabase, type LibsqlServer, libsqlProgram, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { putMigratedFile } from './migrated-file.ts';
import { countedDatabase } from './under-way.ts';

/** A database of a test's own; `close` removes it. */
export type TestDatabase = Database & { close(): Promise<void> };

/** One of the engines that the vault runs on. */
export interface Engine {
  readonly name: string;
  /** A database whose tables are made, or are made at once on a server. */
  open(): Promise<TestDatabase>;
  openEmpty(): Promise<TestDatabase>;
}

/**
 * The engines that the vault runs on: the built-in one, written inline or by a thread, `@libsql/client` on a file, and
 * a libSQL server where this machine has one.
 */
export function engines(): readonly Engine[] {
  const local = [
    engineOn('built-in SQLite', async (path) => openSqlite(path)),
    engineOn('built-in SQLite with a writing thread', openWithThread),
    engineOn('@libsql/client on a file', openLibsqlFile),
  ];
  if (libsqlProgram()) return [...local, { name: 'libSQL server', open: openServer, openEmpty: openServer }];
  console.log('There is no libSQL server for this machine: its tests are left out.');
  return local;
}

/** A folder of a test's own under the system's temporary one. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'vault-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The rows of a query on a file that other programs may write at the same time, or be in the midst of opening. */
export function readRows(path: string, sql: string): unknown[][] {
  using connection = new Connection(path, { readonly: true });
  // The one that opens a killed program's file locks it for a moment.
  connection.run('PRAGMA busy_timeout = 60000');
  return connection.query(sql).values();
}

function engineOn(name: string, openFile: (path: string) => Promise<Closable>): Engine {
  const openIn = async (fill: (path: string) => void) => {
    const folder = temporaryFolder();
    const path = join(folder.path, 'vault.db');
    fill(path);
    return owned(await openFile(path), folder.remove);
  };
  return {
    name,
    open: () => openIn(putMigratedFile),
    openEmpty: () => openIn(() => undefined),
  };
}

type Closable = Database & { close(): void | Promise<void> };

/** A database with the thread that writes it, and its file for another thread. */
type ThreadedDatabase = TestDatabase & Pick<EmbeddedDatabase, 'file'> & { readonly thread: WriterThread };

/** The embedded database with the thread that writes it. */
export async function openWithThread(path: string): Promise<ThreadedDatabase> {
  const database = openSqlite(path);
  const thread = await startWriter(database.file);
  database.writeOn(thread);
  return {
    thread,
    file: database.file,
    execute: (statement) => database.execute(statement),
    batch: (statements, mode) => database.batch(statements, mode),
    async close() {
      database.close();
      await thread.close();
    },
  };
}

/** One connection, because settings made by statements hold for one only. */
async function openLibsqlFile(path: string): Promise<Closable> {
  const client = createClient({ url: `file:${path}`, concurrency: 1, timeout: 5000 });
  await client.execute('PRAGMA journal_mode = WAL');
  return client;
}

async function openServer(): Promise<TestDatabase> {
  const { url, remove } = await createLibsqlDatabase(await testServer());
  return owned(await openDatabase({ url, maxConnections: 10 }), remove);
}

let ownServer: Promise<LibsqlServer | undefined> | undefined;

/** The server of the run (`scripts/testing/run.ts`), else one that ends with this process. */
async function testServer(): Promise<Pick<LibsqlServer, 'url' | 'adminUrl'>> {
  const { TEST_LIBSQL_URL: url, TEST_LIBSQL_ADMIN_URL: adminUrl } = process.env;
  if (url && adminUrl) return { url, adminUrl };
  ownServer ??= startOwnServer();
  const server = await ownServer;
  if (!server) throw new Error('there is no libSQL server for this machine');
  return server;
}

async function startOwnServer(): Promise<LibsqlServer | undefined> {
  const folder = temporaryFolder();
  process.once('exit', folder.remove);
  return startLibsql({ dir: folder.path, namespaces: true });
}

function owned(database: Closable, remove: () => unknown): TestDatabase {
  const { execute, batch } = countedDatabase(database);
  return {
    ...(database.protocol === undefined ? {} : { protocol: database.protocol }),
    execute,
    batch,
    async close() {
      await database.close();
      await remove();
    },
  };
}

/** A database that nobody can reach. */
export const unreachable = {
  execute: (): Promise<never> => Promise.reject(new Error('unreachable')),
  batch: (): Promise<never> => Promise.reject(new Error('unreachable')),
};
