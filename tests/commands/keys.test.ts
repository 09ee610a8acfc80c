import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { toHex } from '../../lib/base/bytes.ts';
import { createKeys } from '../../lib/identity/keys.ts';
import { temporaryFolder } from '../support/databases.ts';
import { startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';
import { VAULT_SECRET } from '../support/vault.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const run = (args: readonly string[], vars: Record<string, string> = {}) =>
  runProgram(args, { cwd: folder.path, vars });
const at = (name: string) => join(folder.path, 'vault-data', name);
const textOf = (name: string) => readFileSync(at(name), 'utf8').trim();
const derivedFrom = (secret: string) =>
  toHex(createKeys(Buffer.from(secret, 'hex')).attestation[0] ?? new Uint8Array());

describe.each([
  ['signing', 'RS256', 'ID tokens'],
  ['credentials', 'ES256', 'credentials'],
] as const)('vault keys rotate --%s', (flag, alg, of) => {
  test('the next key signs in a day; with --now it signs at once, and the former ones are over', async () => {
    await run(['migrate']);
    const rows = () => {
      const database = new Database(at('vault.db'), { readonly: true });
      const found = database.query('SELECT alg, made_at, signs_from, ends_at FROM signing_keys ORDER BY made_at').all();
      database.close();
      return found as { alg: string; made_at: number; signs_from: number; ends_at: number | null }[];
    };
    const later = await run(['keys', 'rotate', `--${flag}`]);
    expect([later.code, later.err]).toEqual([0, '']);
    const [next] = rows();
    expect(Math.abs((next?.signs_from ?? 0) - (next?.made_at ?? 0) - 86_400_000)).toBeLessThan(60_000);
    const now = await run(['keys', 'rotate', `--${flag}`, '--now']);
    expect([now.code, now.out]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^A new key of ${of} signs from \\S+Z on\\.\n$`)),
    ]);
    const [former, stolen] = rows();
    expect(rows().map((row) => row.alg)).toEqual([alg, alg]);
    expect(former?.ends_at).toBe(stolen?.made_at ?? 0);
    expect(stolen?.ends_at).toBeNull();
    expect(stolen?.signs_from).toBeLessThanOrEqual(stolen?.made_at ?? 0);
  });

  test('with --dry-run it makes none', async () => {
    await run(['migrate']);
    expect((await run(['keys', 'rotate', `--${flag}`, '--dry-run'])).out).toBe(`A new key of ${of} would be made.\n`);
  });
});

describe('vault keys rotate with flags that do not fit', () => {
  test.each([
    [['--now'], '--now goes with --signing or --credentials.'],
    [['--now', '--operator'], '--now goes with --signing or --credentials.'],
    [['--signing', '--operator'], 'Expected one of: --signing, --credentials, --operator.'],
    [['--signing', '--credentials'], 'Expected one of: --signing, --credentials, --operator.'],
  ])('%p: wrong usage', async (flags, words) => {
    const { code, err } = await run(['keys', 'rotate', ...flags]);
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  });
});

describe('vault keys rotate', () => {
  test('puts a new key before the derived one, in a file of its owner’s alone', async () => {
    await run(['migrate']);
    const { code, out, err } = await run(['keys', 'rotate']);
    expect(code).toBe(0);
    expect(out).toBe('ATTESTATION_SIGNING_KEY is rotated: vault-data/attestation.keys\n');
    expect(err).toContain('restart the vault');
    const [current, previous, ...more] = textOf('attestation.keys').split(',');
    expect(current).toMatch(/^[0-9a-f]{64}$/);
    expect([previous, more]).toEqual([derivedFrom(textOf('vault.secret')), []]);
    expect(statSync(at('attestation.keys')).mode & 0o777).toBe(0o600);
    expect(out + err).not.toContain(String(current));
    expect((await run(['config'])).out).toMatch(
      /ATTESTATION_SIGNING_KEY +\(secret\) +generated, vault-data\/attestation\.keys/,
    );
  });

  test('keeps the file of before aside, and at most four keys', async () => {
    await run(['migrate']);
    const texts: string[] = [];
    for (let i = 0; i < 3; i++) {
      await run(['keys', 'rotate']);
      texts.push(textOf('attestation.keys'));
    }
    expect(texts.map((text) => text.split(',').length)).toEqual([2, 3, 4]);
    expect(texts[2]).toEndWith(`,${texts[1]}`);
    const kept = readdirSync(at('.')).filter((name) => name.startsWith('attestation.keys.before-'));
    expect(kept.map(textOf).sort()).toEqual(texts.slice(0, 2).sort());
    // The oldest may still be needed by an attestation that is under way.
    const { code, err } = await run(['keys', 'rotate']);
    expect([code, err]).toEqual([1, expect.stringMatching(/holds 4 keys.*wait \d+ s/)]);
    expect(textOf('attestation.keys')).toBe(String(texts[2]));
    utimesSync(at('attestation.keys'), 1, Date.now() / 1000 - 301);
    expect((await run(['keys', 'rotate'])).code).toBe(0);
    expect(textOf('attestation.keys').split(',').slice(1)).toEqual(String(texts[2]).split(',').slice(0, 3));
  });

  test('with --dry-run changes nothing, and before a first start has nothing to rotate', async () => {
    expect(await run(['keys', 'rotate'])).toMatchObject({ code: 2, out: '' });
    expect(readdirSync(folder.path)).toEqual([]);
    await run(['migrate']);
    expect((await run(['keys', 'rotate', '--dry-run'])).out).toBe('vault-data/attestation.keys would be replaced.\n');
    expect(existsSync(at('attestation.keys'))).toBe(false);
  });

  test('only prints what settings give, with the keys of before behind it', async () => {
    const remote = {
      DATABASE_URL: 'http://127.0.0.1:1',
      VAULT_SECRET,
      OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    };
    const derived = await run(['keys', 'rotate'], remote);
    expect(derived.out).toMatch(new RegExp(`^ATTESTATION_SIGNING_KEY=[0-9a-f]{64},${derivedFrom(VAULT_SECRET)}\n$`));
    expect(derived.err).toContain('nothing was changed');
    const given = 'ab'.repeat(16) + VAULT_SECRET.slice(0, 32);
    const { out } = await run(['keys', 'rotate', '--json'], { ...remote, ATTESTATION_SIGNING_KEY: given });
    expect(JSON.parse(out)).toEqual({
      setting: 'ATTESTATION_SIGNING_KEY',
      value: expect.stringMatching(new RegExp(`^[0-9a-f]{64},${given}$`)),
    });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('makes the directory for the file where the root secret comes from a setting', async () => {
    expect((await run(['keys', 'rotate'], { VAULT_SECRET })).code).toBe(0);
    expect(readdirSync(at('.'))).toEqual(['attestation.keys']);
    expect(textOf('attestation.keys')).toEndWith(`,${derivedFrom(VAULT_SECRET)}`);
  });

  test('--operator makes a new operator secret, which the next start takes', async () => {
    await run(['migrate']);
    const before = textOf('operator.secret');
    const { code, out } = await run(['keys', 'rotate', '--operator', '--json']);
    expect(code).toBe(0);
    const { keptAs } = JSON.parse(out);
    expect(readFileSync(join(folder.path, keptAs), 'utf8').trim()).toBe(before);
    const program = await startProgram({ RPC_URL: 'http://127.0.0.1:1' }, { cwd: folder.path });
    const ask = (secret: string) =>
      fetch(`${program.url}/v1/console/limits`, { headers: { authorization: `Bearer ${secret}` } });
    expect((await ask(before)).status).toBe(401);
    expect((await ask(textOf('operator.secret'))).status).not.toBe(401);
    await program.stop();
    expect((await run(['keys', 'rotate', '--operator'], { OPERATOR_SECRET: VAULT_SECRET })).out).toMatch(
      /^OPERATOR_SECRET=[0-9a-f]{64}\n$/,
    );
  });
});
