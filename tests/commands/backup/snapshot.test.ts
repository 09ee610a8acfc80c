import { afterAll, expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { copyEmbedded } from '../../../commands/backup/snapshot.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { temporaryFolder } from '../../support/databases.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Pages in the log, and how many of them are in the file: SQLite keeps both in the log's index. */
function logOf(path: string): { readonly pages: number; readonly inFile: number } {
  const index = readFileSync(`${path}-shm`);
  return { pages: index.readUInt32LE(16), inFile: index.readUInt32LE(96) };
}

test('a log that grew during a copy is brought into the file by the copy, not by the next commit of the vault', async () => {
  const path = join(folder.path, 'vault.db');
  const [vault, reader] = [openSqlite(path), openSqlite(path)];
  await vault.execute({ sql: 'CREATE TABLE t (text TEXT NOT NULL) STRICT', args: {} });
  // As a copy does, it keeps the log from being emptied.
  await reader.execute({ sql: 'BEGIN', args: {} });
  await reader.execute({ sql: 'SELECT count(*) FROM t', args: {} });
  const insert = { sql: 'INSERT INTO t VALUES (hex(zeroblob(1000000)))', args: {} };
  for (let n = 0; n < 20; n++) await vault.execute(insert);
  await reader.execute({ sql: 'ROLLBACK', args: {} });
  expect(logOf(path).pages - logOf(path).inFile).toBeGreaterThan(9_000);

  copyEmbedded(path, join(folder.path, 'copy.db'));
  expect(logOf(path).inFile).toBe(logOf(path).pages);
  // So the next commit begins the log again.
  await vault.execute({ sql: `INSERT INTO t VALUES ('last')`, args: {} });
  expect(logOf(path).pages).toBeLessThan(100);
  expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(16 * 1024 * 1024);
  for (const database of [reader, vault]) database.close();
});
