import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { seal, unseal } from '../../../commands/backup/backup-file.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { backupKey } from '../../../lib/identity/keys.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runToEnd } from '../../support/output.ts';
import { startOther } from '../../support/process.ts';
import { runProgram, VAULT } from '../../support/run.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const run = (args: readonly string[], vars: Record<string, string> = {}) =>
  runProgram(args, { cwd: folder.path, vars });
const at = (name: string) => join(folder.path, name);
const filesIn = (name: string) => readdirSync(at(name)).map((one) => join(name, one));
const NOBODY = 65_534;
const KEY = backupKey(new Uint8Array(32).fill(7));
const FACTS = { createdAt: '2026-01-01T00:00:00.000Z', vault: '0.1.0', schema: 1, rows: { codes: 2 } };

describe('a backup file', () => {
  const made = (name: string, bytes = 3_000_000) => {
    writeFileSync(at(name), Buffer.alloc(bytes, 'pages '));
    seal(at(name), FACTS, KEY);
    return at(name);
  };

  test('is what was sealed, and says so to whoever has the key', () => {
    const path = made('a');
    const { manifest, isMac } = unseal(path, KEY, at('copy'));
    expect(manifest).toMatchObject({ format: 1, ...FACTS, bytes: 3_000_000 });
    expect(isMac).toBe(true);
    expect(readFileSync(at('copy')).equals(Buffer.alloc(3_000_000, 'pages '))).toBe(true);
    expect(statSync(at('copy')).mode & 0o777).toBe(0o600);
    expect(unseal(path, undefined).isMac).toBeUndefined();
    expect(unseal(path, backupKey(new Uint8Array(32).fill(8))).isMac).toBe(false);
  });

  test('is refused with any byte changed: of every region of its contents, and each of its trailer', () => {
    const path = made('a', 40_000);
    const whole = readFileSync(path);
    const places = [...Array.from({ length: 100 }, (_, i) => i * 400), ...Array.from(whole.keys()).slice(40_000)];
    for (const place of places) {
      const changed = Buffer.from(whole);
      changed[place] = (changed[place] ?? 0) ^ 1;
      writeFileSync(path, changed);
      expect(() => unseal(path, undefined)).toThrow(/damaged|not a backup/);
    }
  });

  test('is refused when it was cut anywhere, or something was put behind it', () => {
    const size = statSync(made('a', 4_000)).size;
    for (let length = 0; length < size; length += length > 3_990 ? 1 : 97) {
      truncateSync(made('a', 4_000), length);
      expect(() => unseal(at('a'), KEY)).toThrow(/damaged|not a backup/);
    }
    writeFileSync(made('a', 4_000), 'x', { flag: 'a' });
    expect(() => unseal(at('a'), KEY)).toThrow('not a backup');
  });

  test('whose contents were changed by somebody who made its digests anew has no MAC of the key', () => {
    const path = made('a', 4_000);
    writeFileSync(path, Buffer.alloc(4_000, 'other '));
    seal(path, FACTS, backupKey(new Uint8Array(32).fill(9)));
    expect(unseal(path, KEY).isMac).toBe(false);
  });
});

describe('vault backup', () => {
  test('makes one file for its owner only, that any SQLite opens, and names the secrets it does not hold', async () => {
    await run(['migrate']);
    const { code, out } = await run(['backup', 'a.backup']);
    expect(code).toBe(0);
    expect(out).toContain('It does not contain these secrets');
    expect(out).toContain('VAULT_SECRET (generated, vault-data/vault.secret)');
    expect(statSync(at('a.backup')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path).sort()).toEqual(['a.backup', 'vault-data']);
    const opened = new Database(at('a.backup'), { readonly: true });
    expect(opened.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
    opened.close();
    const secret = readFileSync(at('vault-data/vault.secret'), 'utf8').trim();
    expect(readFileSync(at('a.backup')).includes(secret)).toBe(false);
    expect(out).not.toContain(secret);
  });

  test('puts the generated secrets into it when told to, and warns', async () => {
    await run(['migrate']);
    const { out } = await run(['backup', 'a.backup', '--with-secrets'], { SMTP_URL: 'smtp://u:p@127.0.0.1:1' });
    expect(out).toContain('It contains secrets (vault.secret, operator.secret)');
    expect(out).toContain('SMTP_URL (environment)');
    expect(out).not.toContain('smtp:');
    expect(readFileSync(at('a.backup')).includes(readFileSync(at('vault-data/vault.secret'), 'utf8').trim())).toBe(
      true,
    );
  });

  test('replaces no file, makes none of nothing, and leaves none behind', async () => {
    expect(await run(['backup'])).toMatchObject({ code: 2, err: 'vault: vault backup needs FILE.\n' });
    expect(await run(['backup', 'a.backup'])).toMatchObject({ code: 1, out: '' });
    expect(readdirSync(folder.path)).toEqual([]);
    await run(['migrate']);
    writeFileSync(at('a.backup'), 'mine');
    expect(await run(['backup', 'a.backup'])).toMatchObject({ code: 2, out: '' });
    expect(readFileSync(at('a.backup'), 'utf8')).toBe('mine');
    expect(await run(['backup', 'nowhere/a.backup'])).toMatchObject({
      code: 1,
      err: `vault: no backup was made: there is no folder ${folder.path}/nowhere: make it, or choose another one\n`,
    });
    expect(readdirSync(folder.path).sort()).toEqual(['a.backup', 'vault-data']);
  });

  test('says to a user who may not write there, or is not the vault’s, what to do', async () => {
    await run(['migrate']);
    mkdirSync(at('closed'), { mode: 0o555 });
    // The superuser may write everywhere: somebody else runs it then, to whom the data belong.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) for (const path of ['.', 'vault-data', ...filesIn('vault-data')]) chownSync(at(path), NOBODY, NOBODY);
    const as = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
    const runAs = (...args: string[]) => runToEnd([...as, ...VAULT, ...args], { cwd: folder.path, env: {} });
    for (const args of [['closed/a.backup'], ['--to', 'closed']])
      expect(await runAs('backup', ...args)).toMatchObject({
        code: 1,
        err: `vault: no backup was made: ${folder.path}/closed cannot be written to (EACCES): run this as the vault's user, or let this user write there\n`,
      });
    if (isRoot) for (const path of ['vault-data', ...filesIn('vault-data')]) chownSync(at(path), 0, 0);
    else chmodSync(at('vault-data'), 0o000);
    const other = await runAs('backup', 'a.backup');
    if (!isRoot) chmodSync(at('vault-data'), 0o700);
    expect(other.err).toContain('EACCES');
    expect(other.err).toContain("run this as the vault's user, or set DATA_DIR");
    expect(other.code).toBe(1);
    expect(readdirSync(folder.path).sort()).toEqual(['closed', 'vault-data']);
  });

  test('of a damaged database is none', async () => {
    await run(['migrate']);
    const path = at('vault-data/vault.db');
    const bytes = readFileSync(path);
    bytes.fill(0xff, 8_192, 12_288);
    writeFileSync(path, bytes);
    const { code, err } = await run(['backup', 'a.backup']);
    expect(code).toBe(1);
    expect(err).toStartWith('vault: no backup was made: ');
    expect(readdirSync(folder.path)).toEqual(['vault-data']);
  });

  test('is one state of a database that another process writes to, and has all it had acknowledged', async () => {
    await run(['migrate']);
    const writer = startOther('append', `file:${at('vault-data/vault.db')}`);
    const acknowledged: string[] = [];
    while (acknowledged.length < 2_000) acknowledged.push(await writer.line());
    const { code } = await run(['backup', 'a.backup']);
    expect(code).toBe(0);
    await writer.kill();
    const opened = openSqlite(at('a.backup'));
    const { rows } = await opened.execute({ sql: `SELECT value FROM tallies WHERE name LIKE 'row %'`, args: {} });
    opened.close();
    const found = new Set(rows.map((row) => String(row['value'])));
    expect(acknowledged.filter((number) => !found.has(number))).toEqual([]);
  });
});
