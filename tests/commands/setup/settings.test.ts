import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Arguments } from '../../../commands/cli/arguments.ts';
import { loadSettings } from '../../../commands/setup/settings.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { migrate, pendingMigrations } from '../../../lib/db/migrations.ts';
import { temporaryFolder } from '../../support/databases.ts';

const ROOT = join(import.meta.dir, '../../..');
const SECRETS = ['operator.secret', 'vault.secret'];

let folder: ReturnType<typeof temporaryFolder>;
let dir: string;
beforeEach(() => {
  folder = temporaryFolder();
  dir = join(folder.path, 'data');
});
afterEach(() => folder.remove());

describe('the secrets of a first start', () => {
  test('are kept, are of their owner alone, and are found by the next', () => {
    const { vars, config } = loadSettings(given());
    expect(readdirSync(dir).sort()).toEqual(SECRETS);
    for (const name of SECRETS) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dir, 'vault.secret'), 'utf8')).toBe(`${vars['VAULT_SECRET']}\n`);
    expect(loadSettings(given()).config).toEqual(config);
  });

  test('are the same for processes that start at the same moment', async () => {
    const script = `const { loadSettings } = await import('${ROOT}/commands/setup/settings.ts');
      console.log(loadSettings(${JSON.stringify(given())}).vars['VAULT_SECRET']);`;
    const found = await Promise.all(
      Array.from({ length: 4 }, () =>
        new Response(Bun.spawn([process.execPath, '-e', script], { stderr: 'inherit' }).stdout).text(),
      ),
    );
    expect([...new Set(found)]).toEqual([readFileSync(join(dir, 'vault.secret'), 'utf8')]);
    expect(readdirSync(dir).sort()).toEqual(SECRETS);
  });

  test('are not made where settings are refused', () => {
    expect(() => loadSettings(given({ PORT: 'none' }))).toThrow('PORT must be a whole number');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('name the directory that takes none', () => {
    mkdirSync(join(dir, 'vault.secret'), { recursive: true });
    expect(() => loadSettings(given())).toThrow(`DATA_DIR ${dir} cannot be used: `);
  });
});

test('a first start that is killed at any change of its directory leaves what the next start takes', async () => {
  const exits: number[] = [];
  for (let calls = 1; exits.at(-1) !== 0; calls++) {
    dir = join(folder.path, `${calls}`);
    exits.push(await startKilledAt(calls));
    const before = kept();
    const { vars } = loadSettings(given());
    expect(vars).toMatchObject(before);
    const database = openSqlite(join(dir, 'vault.db'));
    await migrate(database, systemClock);
    expect(await pendingMigrations(database)).toEqual([]);
    database.close();
  }
  // The directory, two drafts and their names, at least.
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
    for (const name of ['mkdirSync', 'openSync', 'writeSync', 'chownSync', 'linkSync', 'unlinkSync', 'fsyncSync']) {
      const call = fs[name];
      fs[name] = (...given) => {
        const result = call(...given);
        if (--left === 0) process.kill(process.pid, 'SIGKILL');
        return result;
      };
    }
    require('node:module').syncBuiltinESMExports();
    const { loadSettings } = await import('${ROOT}/commands/setup/settings.ts');
    const { openSqlite } = await import('${ROOT}/commands/storage/sqlite.ts');
    loadSettings(${JSON.stringify(given())});
    openSqlite(${JSON.stringify(join(dir, 'vault.db'))}).close();`;
  return Bun.spawn([process.execPath, '-e', script], { stderr: 'inherit' }).exited;
}
