import { afterAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAhead } from '../../../commands/storage/read-ahead.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { temporaryFolder } from '../../support/databases.ts';

const folder = temporaryFolder();
const fileNamed = (name: string) => join(folder.path, name);
afterAll(() => folder.remove());

const MIB = 1024 * 1024;

test('a file is read to its end, and no further than the setting says', async () => {
  const path = fileNamed('large.db');
  writeFileSync(path, Buffer.alloc(3 * MIB + 5));
  const read = [2 * MIB, 100 * MIB].map((bytes) => readAhead(path, bytes));
  expect(await Promise.all(read.map(({ ended }) => ended))).toEqual([2 * MIB, 3 * MIB + 5]);
  for (const one of read) one.stop();
});

test('a stop ends it, and closes the file', async () => {
  const path = fileNamed('stopped.db');
  writeFileSync(path, Buffer.alloc(64 * MIB));
  const reading = readAhead(path, 64 * MIB);
  reading.stop();
  expect(await reading.ended).toBeLessThan(64 * MIB);
  await Bun.sleep(0);
  if (process.platform === 'linux') expect(openFiles()).not.toContain(path);
});

test.if(process.platform === 'linux')('the locks of the open database outlive it', async () => {
  const path = fileNamed('locked.db');
  const database = openSqlite(path);
  await database.execute({ sql: 'CREATE TABLE things (id INTEGER) STRICT', args: {} });
  const locks = () => readFileSync('/proc/locks', 'utf8').match(new RegExp(`:${statSync(path).ino} .*`, 'g'));
  const before = locks();
  expect(before).toHaveLength(1);
  const reading = readAhead(path, MIB);
  await reading.ended;
  expect(locks()).toEqual(before);
  database.close();
  reading.stop();
});

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });
}
