import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Arguments } from '../../../commands/cli/arguments.ts';
import { beginSettings, loadSettings } from '../../../commands/setup/settings.ts';
import { beginReadyMade } from '../../../commands/storage/ready-made.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { pendingMigrations } from '../../../lib/db/migrations.ts';
import { readyMade } from '../../../scripts/ready-made.ts';
import { temporaryFolder } from '../../support/databases.ts';

const ROOT = join(import.meta.dir, '../../..');
const NOW = 1_790_000_000_123;
const SECRETS = ['operator.secret', 'vault.secret'];

let source: ReturnType<typeof temporaryFolder>;
let folder: ReturnType<typeof temporaryFolder>;
let image: string;
let dir: string;
beforeAll(async () => {
  source = temporaryFolder();
  image = join(source.path, 'vault.db.zst');
  writeFileSync(image, await readyMade());
});
afterAll(() => source.remove());
beforeEach(() => {
  folder = temporaryFolder();
  dir = join(folder.path, 'data');
});
afterEach(() => folder.remove());

describe('the secrets of a first start', () => {
  test('have their names only when they are on the disk, and are of their owner alone', async () => {
    const loading = beginSettings(given());
    expect(readdirSync(dir).filter((name) => SECRETS.includes(name))).toEqual([]);
    expect(readdirSync(dir)).toHaveLength(2);
    const { settings, durable } = await loading.keep();
    await durable;
    expect(readdirSync(dir).sort()).toEqual(SECRETS);
    for (const name of SECRETS) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dir, 'vault.secret'), 'utf8')).toBe(`${settings.vars['VAULT_SECRET']}\n`);
    expect((await loadSettings(given())).config).toEqual(settings.config);
  });

  test('are those of another process that gave its own their names first', async () => {
    const [mine, others] = [beginSettings(given()), beginSettings(given())];
    const { settings: theirs } = await others.keep();
    const { settings } = await mine.keep();
    expect(settings.config).toEqual(theirs.config);
    expect(settings.config).not.toEqual(mine.settings.config);
    expect(readdirSync(dir).sort()).toEqual(SECRETS);
  });

  test('are not made where settings are refused', () => {
    expect(() => beginSettings(given({ PORT: 'none' }))).toThrow('PORT must be a whole number');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('name the directory that takes none', async () => {
    const loading = beginSettings(given());
    mkdirSync(join(dir, 'vault.secret'));
    await expect(loading.keep()).rejects.toThrow(`DATA_DIR ${dir} cannot be used: `);
  });

  test('leave nothing when the program ends before they have their names', async () => {
    const script = `import { beginSettings } from '${ROOT}/commands/setup/settings.ts';
      beginSettings(${JSON.stringify(given())});
      process.exit(3);`;
    const child = Bun.spawn([process.execPath, '-e', script], { stderr: 'inherit' });
    expect(await child.exited).toBe(3);
    expect(readdirSync(dir)).toEqual([]);
  });
});

test('a first start that is killed at any change of its directory leaves what the next start takes', async () => {
  const exits: number[] = [];
  for (let calls = 1; exits.at(-1) !== 0; calls++) {
    dir = join(folder.path, `${calls}`);
    exits.push(await startKilledAt(calls));
    const before = kept();
    const { vars } = await loadSettings(given());
    await beginReadyMade(join(dir, 'vault.db'), NOW, image).finish();
    expect(vars).toMatchObject(before);
    const database = openSqlite(join(dir, 'vault.db'));
    expect(await pendingMigrations(database)).toEqual([]);
    database.close();
    // A draft may be left, but never as a second name of the live database.
    expect(statSync(join(dir, 'vault.db')).nlink).toBe(1);
  }
  // Directory, three drafts and their names, at least.
  expect(exits.length).toBeGreaterThan(10);
  expect(exits.slice(0, -1).every((code) => code === 137)).toBe(true);
});

function given(vars: Arguments['vars'] = {}): Arguments {
  return { command: 'serve', vars: { DATA_DIR: dir, ...vars }, options: {} };
}

/** The secrets that have their names. */
function kept(): Record<string, string> {
  const names = readdirSync(folder.path).includes(dir.slice(folder.path.length + 1)) ? readdirSync(dir) : [];
  const settings = { 'vault.secret': 'VAULT_SECRET', 'operator.secret': 'OPERATOR_SECRET' } as const;
  const found = Object.entries(settings).filter(([name]) => names.includes(name));
  return Object.fromEntries(found.map(([name, setting]) => [setting, readFileSync(join(dir, name), 'utf8').trim()]));
}

/** Runs a first start that is killed, as by kill -9, right after so many calls that change the directory. */
async function startKilledAt(calls: number): Promise<number> {
  const script = `
    const fs = require('node:fs');
    let left = ${calls};
    for (const name of ['mkdirSync', 'openSync', 'writeSync', 'chownSync', 'linkSync', 'unlinkSync', 'fsync']) {
      const call = fs[name];
      fs[name] = (...given) => {
        const result = call(...given);
        if (--left === 0) process.kill(process.pid, 'SIGKILL');
        return result;
      };
    }
    require('node:module').syncBuiltinESMExports();
    const { beginSettings } = await import('${ROOT}/commands/setup/settings.ts');
    const { beginReadyMade } = await import('${ROOT}/commands/storage/ready-made.ts');
    const loading = beginSettings(${JSON.stringify(given())});
    const laying = beginReadyMade(${JSON.stringify(join(dir, 'vault.db'))}, ${NOW}, ${JSON.stringify(image)});
    const kept = await loading.keep();
    const laid = await laying.finish();
    await Promise.all([kept.durable, laid.durable]);`;
  return Bun.spawn([process.execPath, '-e', script], { stderr: 'inherit' }).exited;
}
