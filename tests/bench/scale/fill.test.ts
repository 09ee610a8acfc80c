import { Database as Connection } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { countRows } from '../../../commands/storage/tables.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { filled } from './fill.ts';
import { credentialOf, hexOf, KINDS } from './keys.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const REGISTRATIONS = 400;

test('a filled file is a whole database, and the load knows its keys', async () => {
  const path = await filled(folder.path, REGISTRATIONS);
  const connection = new Connection(path);
  const one = (sql: string) => Object.values(connection.query(sql).get() as object)[0];
  expect(one('PRAGMA integrity_check')).toBe('ok');
  expect(connection.query('PRAGMA foreign_key_check').all()).toEqual([]);
  const rows = countRows(connection);
  expect([rows['registrations'], rows['credentials'], rows['sessions']]).toEqual([400, 400, 400]);
  expect(one(`SELECT value FROM tallies WHERE name = 'sessions'`)).toBe(REGISTRATIONS);
  expect(one(`SELECT registration_id FROM credentials WHERE credential_id = '${credentialOf(123)}'`)).toBe(123);
  const handle = `handle:u${hexOf(124, 2, KINDS.identifier)}`;
  expect(one(`SELECT id FROM registrations WHERE identifier = '${handle}'`)).toBe(124);
  connection.close();
});

test('it has every index and trigger that the migrations make', async () => {
  const list = `SELECT type, name FROM sqlite_schema ORDER BY name`;
  const empty = openSqlite(`${folder.path}/empty.db`);
  await migrate(empty, systemClock);
  const { rows } = await empty.execute({ sql: list, args: {} });
  empty.close();
  const connection = new Connection(await filled(folder.path, REGISTRATIONS));
  expect(connection.query(list).all()).toEqual([...rows]);
  connection.close();
});
