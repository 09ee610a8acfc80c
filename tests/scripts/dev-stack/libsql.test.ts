import { expect, test } from 'bun:test';
import { openDatabase } from '../../../commands/storage/database.ts';
import { startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';

test('a libSQL server keeps its data in its folder and ends when told to', async () => {
  const folder = temporaryFolder();
  const first = await startLibsql({ dir: folder.path });
  if (!first) return console.log('There is no libSQL server for this machine: its tests are left out.');
  const database = await openDatabase({ url: first.url, maxConnections: 1 });
  await database.execute({ sql: 'CREATE TABLE things (id INTEGER) STRICT', args: {} });
  await first.stop();
  expect(await settled(fetch(`${first.url}/health`))).toThrow();
  const second = await startLibsql({ dir: folder.path });
  const again = await openDatabase({ url: second?.url ?? '', maxConnections: 1 });
  const { rows } = await again.execute({ sql: 'SELECT name FROM sqlite_schema', args: {} });
  expect({ ...rows[0] }).toEqual({ name: 'things' });
  await second?.stop();
  folder.remove();
});
