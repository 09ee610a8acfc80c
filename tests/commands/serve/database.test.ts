import { afterAll, expect, test } from 'bun:test';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { openServing } from '../../../commands/serve/database.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const folder = temporaryFolder();
let files = 0;
afterAll(() => folder.remove());

const insert = (n: number) => ({ sql: 'INSERT INTO t VALUES (:n)', args: { n: BigInt(n) } });
const count = { sql: 'SELECT count(*) AS n FROM t', args: {} };

async function open() {
  const path = join(folder.path, `${++files}.db`);
  const events: string[] = [];
  const config = readConfig({ VAULT_SECRET, DATABASE_URL: `file:${path}` });
  const database = await openServing(config, ({ event }) => events.push(event));
  await database.execute({ sql: 'CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT', args: {} });
  return { path, database, events };
}

test('what is written before the thread runs waits for it, in its order', async () => {
  const { database, events } = await open();
  database.startWriter();
  let isWritten = false;
  const writes = Array.from({ length: 20 }, (_, n) => database.batch([insert(n)], 'write'));
  const read = await database.execute(count);
  const first = writes[0]?.then(() => {
    isWritten = true;
  });
  expect([read.rows, isWritten, events]).toEqual([[{ n: 0 }], false, []]);
  await Promise.all([first, ...writes]);
  expect(events).toEqual(['writer_started']);
  expect((await database.execute(count)).rows).toEqual([{ n: 20 }]);
  await database.close();
});

test('a thread that cannot start is the end of the process, and writes nothing', async () => {
  const { path, database, events } = await open();
  renameSync(path, `${path}.away`);
  database.startWriter();
  expect(await settled(database.batch([insert(1)], 'write'))).toThrow(
    expect.objectContaining({ code: 'SQLITE_READONLY_DBMOVED' }),
  );
  expect(await database.ended).toMatchObject({ code: 'SQLITE_READONLY_DBMOVED' });
  expect((await database.execute(count)).rows).toEqual([{ n: 0 }]);
  expect(events).toEqual([]);
  await database.close();
});

test('a database that is closed while its thread starts leaves one file', async () => {
  const { path, database } = await open();
  database.startWriter();
  await database.close();
  expect(readdirSync(folder.path).filter((name) => join(folder.path, name).startsWith(path))).toHaveLength(1);
});
