import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openServing } from '../../../commands/serve/database.ts';
import { cacheOfMemory } from '../../../commands/storage/cache.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { createWriting, SLOW_COMMIT_MS } from '../../../commands/storage/writing.ts';
import { readConfig } from '../../../lib/config/config.ts';
import type { Database } from '../../../lib/db/database.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const MIB = 1024 * 1024;

test.each([
  [64, 16],
  [512, 32],
  [2_048, 128],
  [4_096, 256],
  [262_144, 256],
])('%d MiB of memory: a cache of %d MiB', (memory, cache) => {
  expect(cacheOfMemory(memory * MIB)).toBe(cache);
});

const large = cacheOfMemory();
const cases: readonly (readonly [name: string, vars: Readonly<Record<string, string>>, cacheMb: number])[] = [
  ['the event loop writes: a part of the memory', { DATABASE_WRITER: 'inline' }, large],
  ['a thread writes, and its commits empty the reader’s cache: 16', { DATABASE_WRITER: 'thread' }, 16],
  ['a setting counts with both: inline', { DATABASE_WRITER: 'inline', DATABASE_CACHE_MB: '20' }, 20],
  ['a setting counts with both: thread', { DATABASE_WRITER: 'thread', DATABASE_CACHE_MB: '20' }, 20],
];

test.each(cases)('%s', async (name, vars, cacheMb) => {
  const url = `file:${join(folder.path, `${encodeURIComponent(name)}.db`)}`;
  const started = Promise.withResolvers<void>();
  const database = await openServing(readConfig({ VAULT_SECRET, DATABASE_URL: url, ...vars }), () => started.resolve());
  // What is asked before there are requests stays small: migrations read whole tables.
  expect(await cacheMbOf(database)).toBe(Number(vars['DATABASE_CACHE_MB'] ?? 16));
  await database.chooseWriter();
  database.startWriter();
  if (vars['DATABASE_WRITER'] === 'thread') await started.promise;
  expect(await cacheMbOf(database)).toBe(cacheMb);
  await database.close();
});

test('a thread that takes over later makes the cache small again', async () => {
  const sqlite = openSqlite(join(folder.path, 'later.db'));
  let committed: (ms: number) => void = () => undefined;
  const started = Promise.withResolvers<void>();
  const writing = createWriting(
    { ...sqlite, watchCommits: (watch) => (committed = watch) },
    { choice: 'auto', aloneCacheMb: 64, processors: 1, log: () => started.resolve() },
  );
  writing.start();
  expect(await cacheMbOf(sqlite)).toBe(64);
  for (let n = 0; n < 16; n++) committed(SLOW_COMMIT_MS + 1);
  await started.promise;
  expect(await cacheMbOf(sqlite)).toBe(16);
  await writing.close();
});

async function cacheMbOf(database: Database): Promise<number> {
  const { rows } = await database.execute({ sql: 'PRAGMA cache_size', args: {} });
  return Number(rows[0]?.['cache_size']) / -1024;
}
