import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { noteInDatabase } from '../../../commands/backup/note-backup.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { putMigratedFile } from '../../support/migrated-file.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const MADE = { format: 1, vault: '0', schema: 1, rows: {}, sha256: '', bytes: 7 } as const;
const path = join(folder.path, 'vault.db');
const note = (hour: string, to = path) =>
  noteInDatabase(
    readConfig({ VAULT_SECRET, DATABASE_URL: `file:${to}` }),
    { ...MADE, createdAt: `2026-01-01T${hour}:00:00.000Z` },
    '/kept',
  );

test('a backup is noted in place of the one before', async () => {
  putMigratedFile(path);
  expect([await note('10'), await note('12')]).toEqual([undefined, undefined]);
  const database = new Database(path, { readonly: true });
  const made_at = Date.parse('2026-01-01T12:00:00.000Z');
  expect(database.query('SELECT * FROM last_backup').all()).toEqual([{ id: 1, made_at, bytes: 7, place: '/kept' }]);
  database.close();
});

test('that it cannot be noted is no failure of the backup, and is said', async () => {
  expect(await note('10', join(folder.path, 'gone.db'))).toContain('there is no database at');
});
