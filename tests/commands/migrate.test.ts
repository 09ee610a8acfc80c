import { Database as Connection } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
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

test.each(['migrate', 'serve --port 0', 'doctor', 'backup a.backup', 'export'])(
  'vault %s refuses a database from before the first release, and says what to do',
  async (line) => {
    expect((await runProgram(['migrate'], { cwd: folder.path })).code).toBe(0);
    const database = new Connection(join(folder.path, 'vault-data/vault.db'));
    database.run(`UPDATE migrations SET name = 'the main job'`);
    database.run(`INSERT INTO migrations VALUES (47, 'what sponsorships cost', 1)`);
    database.close(true);
    const { code, out, err } = await runProgram(line.split(' '), {
      cwd: folder.path,
      vars: { RPC_URL: 'http://127.0.0.1:1' },
    });
    expect(code).toBe(1);
    expect(out + err).toContain('has tables from before the first release, which cannot be migrated');
    expect(out + err).toContain('begin with a new one (DATA_DIR, DATABASE_URL), or run the vault that made it');
  },
);

if (process.getuid?.() === 0) {
  test('what the superuser makes in a directory belongs to who owns that', async () => {
    const dataDir = join(folder.path, 'vault-data');
    mkdirSync(dataDir, { mode: 0o700 });
    chownSync(dataDir, 12_345, 12_346);
    expect((await runProgram(['migrate'], { cwd: folder.path })).code).toBe(0);
    const made = readdirSync(dataDir).map((name) => [name, statSync(join(dataDir, name)).uid]);
    expect(made.sort()).toEqual([
      ['operator.secret', 12_345],
      ['vault.db', 12_345],
      ['vault.secret', 12_345],
    ]);
  });
} else console.log('This is not the superuser: whom its files belong to is not tried.');
