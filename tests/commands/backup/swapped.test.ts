// Somebody puts another file in a backup's place after it was checked and before it is copied.
import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { cpSync, existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type Manifest, unseal } from '../../../commands/backup/backup-file.ts';
import { restoreEmbedded } from '../../../commands/backup/restore-embedded.ts';
import { restoreRemote } from '../../../commands/backup/restore-remote.ts';
import { openServer } from '../../../commands/storage/server.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { libsqlProgram, startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';
import { settled } from '../../support/settled.ts';

const template = temporaryFolder();
let folder = template;
let manifest: Manifest;
const at = (name: string) => join(folder.path, name);
const run = async (...args: string[]) => expect((await runProgram(args, { cwd: folder.path })).code).toBe(0);

beforeAll(async () => {
  await run('migrate');
  await run('backup', 'a.backup');
  const database = new Database(at('vault-data/vault.db'));
  database.run(`INSERT INTO verifications (identifier, verified_at) VALUES ('email:mallory', 1)`);
  database.close();
  await run('backup', 'other.backup');
});
afterAll(() => template.remove());
beforeEach(() => {
  folder = temporaryFolder();
  cpSync(template.path, folder.path, { recursive: true });
  manifest = unseal(at('a.backup'), undefined).manifest;
  renameSync(at('other.backup'), at('a.backup'));
});
afterEach(() => folder.remove());

test('a file does not become the database', async () => {
  const kept: string[] = [];
  const order = { backup: at('a.backup'), manifest, target: at('new.db'), isOverwrite: false };
  const restored = restoreEmbedded({ ...order, keep: () => void kept.push('secrets') });
  expect(await settled(restored)).toThrow('the backup is another file than the one that was checked');
  expect([kept, existsSync(at('new.db'))]).toEqual([[], false]);
  expect(readdirSync(folder.path).sort()).toEqual(['a.backup', 'vault-data']);
});

test.skipIf(!libsqlProgram())('a file does not get into a libSQL server', async () => {
  const server = await startLibsql({ dir: at('server') });
  const url = server?.url ?? '';
  const [VAULT_SECRET, OPERATOR_SECRET] = ['0123456789abcdef'.repeat(4), 'fedcba9876543210'.repeat(4)];
  const config = readConfig({ VAULT_SECRET, OPERATOR_SECRET, DATABASE_URL: url, DATA_DIR: at('vault-data') });
  const progress = { say: () => undefined, end: () => undefined };
  const restored = restoreRemote(config, at('a.backup'), manifest, progress);
  expect(await settled(restored)).toThrow('the backup is another file than the one that was checked');
  const client = await openServer({ url, maxConnections: 1 });
  expect((await client.execute('SELECT name FROM sqlite_schema')).rows).toEqual([]);
  expect(readdirSync(at('vault-data')).filter((name) => name.includes('draft'))).toEqual([]);
  client.close();
  await server?.stop();
});
