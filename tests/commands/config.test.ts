import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/databases.ts';
import { runProgram } from '../support/run.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

interface Shown {
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
}

async function show(args: readonly string[], vars: Readonly<Record<string, string>> = {}) {
  const { code, out, err } = await runProgram(['config', '--json', ...args], { cwd: folder.path, vars });
  const rows: readonly Shown[] = JSON.parse(out);
  return { code, err, out, of: (name: string) => rows.find((row) => row.name === name) };
}

describe('vault config', () => {
  test('says of every setting what is in force and where it came from', async () => {
    const path = join(folder.path, 'vault.env');
    writeFileSync(path, 'CHAIN_NAME=Mine\nPORT=1\n', { mode: 0o600 });
    const shown = await show(['--config', path, '--port', '9000'], { SMS_DAILY_MAX: '7', PORT: '2' });
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.of('PORT')).toEqual({ name: 'PORT', value: '9000', source: 'flag --port' });
    expect(shown.of('SMS_DAILY_MAX')).toEqual({ name: 'SMS_DAILY_MAX', value: '7', source: 'environment' });
    expect(shown.of('CHAIN_NAME')).toEqual({ name: 'CHAIN_NAME', value: 'Mine', source: `file ${path}` });
    expect(shown.of('BASE_URL')).toEqual({ name: 'BASE_URL', value: 'http://localhost:9000', source: 'default' });
    expect(shown.of('SMTP_URL')).toEqual({ name: 'SMTP_URL', value: null, source: 'default' });
  });

  test('--changed shows what differs from its default, and nothing else', async () => {
    const path = join(folder.path, 'vault.env');
    writeFileSync(path, 'PORT=8787\nCHAIN_NAME=Base Sepolia\nRP_IDS=example.com\nLOG_LEVEL=warn\n', { mode: 0o600 });
    const { code, out } = await runProgram(['config', '--changed', '--config', path], { cwd: folder.path });
    expect([code, out]).toEqual([0, `RP_IDS     example.com  file ${path}\nLOG_LEVEL  warn         file ${path}\n`]);
    const json = await runProgram(['config', '--changed', '--json', '--log-level', 'warn'], { cwd: folder.path });
    expect(JSON.parse(json.out)).toEqual([{ name: 'LOG_LEVEL', value: 'warn', source: 'flag --log-level' }]);
    expect((await runProgram(['config', '--changed'], { cwd: folder.path })).out).toBe(
      'Every setting has its default.\n',
    );
  });

  test('masks secrets and cuts URLs that may hold a key', async () => {
    const key = 'hunter2hunter2hunter2';
    const vars = {
      METRICS_TOKEN: key,
      RPC_URL: `https://rpc.example.com/v2/${key}`,
      SMTP_URL: `smtp://u:${key}@mail.example.com`,
    };
    const shown = await show([], vars);
    expect(shown.out).not.toContain(key);
    expect(shown.of('METRICS_TOKEN')?.value).toBe('(secret)');
    expect(shown.of('RPC_URL')?.value).toBe('https://rpc.example.com/…');
  });

  test('tells which secrets would be generated, and writes nothing', async () => {
    const shown = await show([]);
    expect(shown.of('VAULT_SECRET')).toMatchObject({ value: '(secret)', source: 'generated, vault-data/vault.secret' });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('shows what is in force also when the vault would not start, and ends with 2', async () => {
    const shown = await show([], { PORT: 'hunter2', LOG_LEVEL: 'loud' });
    expect(shown.code).toBe(2);
    expect(shown.err).toContain('PORT must be a whole number from 0 to 65535 (from: environment)');
    expect(shown.err).toContain('LOG_LEVEL must be one of');
    expect(shown.err).not.toContain('hunter2');
  });

  test('says what is near a setting and what contradicts, also beside faults', async () => {
    const near = await show([], { SMTP_UR: 'x', SMTP_URL: 'smtp://mail.example.com' });
    expect(near.code).toBe(0);
    expect(near.err.split('\n').slice(0, 2)).toEqual([
      'vault: SMTP_UR is not a setting: did you mean SMTP_URL?',
      expect.stringMatching(
        /^vault: SMTP_URL is set, but EMAIL_PROVIDER is log, which does not use it: set EMAIL_PROVIDER=smtp/,
      ),
    ]);
    const faulty = await show([], { BASEURL: 'x', DATABASE_URL: 'postgres://localhost/vault' });
    expect(faulty.code).toBe(2);
    expect(faulty.err).toContain('DATABASE_URL must be file:<path>');
    expect(faulty.err).toContain('BASEURL is not a setting: did you mean BASE_URL?');
    expect(faulty.err).not.toContain('VAULT_SECRET');
  });

  test('prints a table without --json', async () => {
    const { code, out } = await runProgram(['config'], { cwd: folder.path });
    expect(code).toBe(0);
    expect(out).toStartWith('HOST ');
    expect(out).toMatch(/^PORT +8787 +default$/m);
  });
});
