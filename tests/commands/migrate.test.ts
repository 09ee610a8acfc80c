import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../lib/db/schema.ts';
import { temporaryFolder } from '../support/databases.ts';
import { runProgram } from '../support/run.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const lines = (verb: string) => MIGRATIONS.map(({ version, name }) => `${version} ${name}: ${verb}\n`).join('');

test('vault migrate --dry-run says what would be applied and makes nothing', async () => {
  const { code, out } = await runProgram(['migrate', '--dry-run'], { cwd: folder.path });
  expect([code, out]).toEqual([0, lines('would be applied')]);
  expect(readdirSync(folder.path)).toEqual([]);
});

test('vault migrate applies, and a second one finds nothing to do', async () => {
  expect(await runProgram(['migrate'], { cwd: folder.path })).toMatchObject({ code: 0, out: lines('applied') });
  expect(existsSync(join(folder.path, 'vault-data/vault.db'))).toBe(true);
  const again = await runProgram(['migrate'], { cwd: folder.path });
  expect(again).toMatchObject({ code: 0, out: 'The tables are up to date.\n' });
});

test('vault migrate says in one line why it cannot', async () => {
  writeFileSync(join(folder.path, 'broken.db'), 'not a database'.repeat(100));
  const { code, err } = await runProgram(['migrate', '--database-url', 'file:broken.db'], { cwd: folder.path });
  expect(code).toBe(1);
  expect(err).toMatch(/^vault: Cannot open the database broken\.db: .*\n$/);
});
