import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { readConfig } from '../../lib/config/config.ts';
import { operatorDid } from '../../lib/identity/did-document.ts';
import { createKeys } from '../../lib/identity/keys.ts';
import { checkConsoleToken } from '../../lib/tokens/console-token.ts';
import { selectRevoked } from '../../lib/tokens/revocation-store.ts';
import { mintInvocation } from '../../lib/ucan/mint.ts';
import type { UcanSigner } from '../../lib/ucan/signature.ts';
import { readTokens } from '../../lib/ucan/verify.ts';
import { temporaryFolder } from '../support/databases.ts';
import { runProgram, VAULT } from '../support/run.ts';
import { newSigner } from '../support/ucan.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const vars = { VAULT_SECRET, APPS: 'shop,forum' };
const config = readConfig({ VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff') });
const vault = { config, keys: createKeys(config.vaultSecret) };

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const run = (...args: string[]) => runProgram(['token', ...args], { cwd: folder.path, vars });

/** As the stream of events would judge it. */
const judge = (token: string, app: string, channels: readonly string[]) =>
  checkConsoleToken(vault, token, { app, channels, now: Date.now() });

describe('vault token mint', () => {
  test('prints a token and nothing else, without a running vault or a database', async () => {
    const { code, out, err } = await run('mint', '--app', 'shop', '--channel', 'audit');
    expect(code).toBe(0);
    expect(out).toMatch(/^C[\w-]+\n$/);
    expect(err).toMatch(/^vault: valid until 20\d\d-.*Z\n$/);
    expect(await judge(out.trim(), 'shop', ['audit'])).toMatchObject({ ok: true });
    expect(await judge(out.trim(), 'shop', ['sessions'])).toEqual({ ok: false, error: 'token_scope' });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('with --json answers what POST /v1/console/token does', async () => {
    const { out, err } = await run('mint', '--app', 'default', '--json');
    expect(err).toBe('');
    const { token, expires_at, ...others } = JSON.parse(out);
    expect(others).toEqual({});
    expect(await judge(token, 'default', ['audit'])).toMatchObject({ ok: true, expiresAt: Date.parse(expires_at) });
  });

  test.each<[RegExp, readonly string[]]>([
    [/needs --app/, ['mint']],
    [/--app is 1 to 64/, ['mint', '--app', 'A b']],
    [/--channel is one of audit/, ['mint', '--app', 'a', '--channel', 'x']],
    [/--aud/, ['delegate']],
    [/--aud is the did:key/, ['delegate', '--aud', 'did:web:example.com']],
    [/--command is \/vault/, ['delegate', '--aud', 'DASHBOARD', '--command', '/']],
    [/--expires is a number/, ['delegate', '--aud', 'DASHBOARD', '--expires', 'never']],
    [/--expires is a number/, ['delegate', '--aud', 'DASHBOARD', '--expires', '3651d']],
    [/needs TOKEN/, ['inspect']],
    [/CID is what/, ['revoke', 'zdpu']],
  ])('%p is told, with 2', async (message, args) => {
    const { did } = await newSigner('Ed25519');
    const { code, out, err } = await run(...args.map((arg) => (arg === 'DASHBOARD' ? did : arg)));
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });

  test('says that an app is not one of APPS, and which is near', async () => {
    const { code, out, err } = await run('mint', '--app', 'shpo');
    expect([code, out]).toEqual([0, expect.stringMatching(/^C/)]);
    expect(err).toStartWith('vault: shpo is not in APPS, so it has no events: add it to APPS, did you mean shop?\n');
  });

  test('makes no key up', async () => {
    const { code, err } = await runProgram(['token', 'mint', '--app', 'a'], { cwd: folder.path });
    expect(code).toBe(2);
    expect(err).toContain('There are no keys');
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe('vault token delegate', () => {
  const invoke = (key: UcanSigner, proof: string, app: string) =>
    mintInvocation({
      key,
      subject: operatorDid(vault),
      command: '/vault/console/events/read',
      args: { app },
      expiresAt: Date.now() + 60_000,
      nonce: new Uint8Array(12),
      proofs: readTokens(proof).map(({ bytes }) => bytes),
    });

  test('gives another key leave for one app, for 30 days', async () => {
    const dashboard = await newSigner('P-256');
    const { code, out } = await run('delegate', '--aud', dashboard.did, '--app', 'shop', '--json');
    expect(code).toBe(0);
    const { token, expires_at, ...facts } = JSON.parse(out);
    expect(facts).toMatchObject({
      audience: dashboard.did,
      command: '/vault/console',
      policy: [['==', '.app', 'shop']],
    });
    expect(Math.round((Date.parse(expires_at) - Date.now()) / 86_400_000)).toBe(30);
    expect(await judge((await invoke(dashboard, token, 'shop')).token, 'shop', ['audit'])).toMatchObject({ ok: true });
    expect(await judge((await invoke(dashboard, token, 'default')).token, 'default', [])).toEqual({
      ok: false,
      error: 'token_scope',
    });
  });

  test('or for every app, for as long as asked', async () => {
    const dashboard = await newSigner('secp256k1');
    const { out, err } = await run('delegate', '--aud', dashboard.did, '--expires', '12h');
    expect(Math.round((Date.parse(/until (.*)/.exec(err)?.[1] ?? '') - Date.now()) / 3_600_000)).toBe(12);
    expect(await judge((await invoke(dashboard, out.trim(), 'any')).token, 'any', ['audit'])).toMatchObject({
      ok: true,
    });
  });
});

describe('vault token inspect', () => {
  test('shows what a token says, from its argument or standard input', async () => {
    const { out: token } = await run('mint', '--app', 'shop');
    const { code, out } = await run('inspect', token.trim());
    expect(code).toBe(0);
    expect(out).toStartWith('invocation zdpu');
    expect(out).toContain('{"app":"shop"}');
    expect(out).toEndWith('Valid, unless it was revoked.\n');
    const child = Bun.spawn([...VAULT, 'token', 'inspect', '-', '--json'], {
      cwd: folder.path,
      env: {},
      stdin: Buffer.from(token),
      stdout: 'pipe',
    });
    expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ valid: true, fault: null });
    expect(await child.exited).toBe(0);
  });

  test('says what is wrong, and ends with 1', async () => {
    const { out: token } = await run('mint', '--app', 'shop');
    const other = await newSigner('Ed25519');
    const expired = await mintInvocation({
      key: other,
      subject: other.did,
      command: '/a',
      args: {},
      expiresAt: 1_000_000,
      nonce: new Uint8Array(12),
    });
    for (const [text, message] of [
      [expired.token, 'Not valid: expired.'],
      [`${token.trim()}A`, 'Not valid: '],
      ['nonsense!', 'Not valid: neither a container'],
      ['nonsense', 'Not valid: neither a container ("C…") nor a token ("g…") in base64url.'],
    ] as const) {
      const { code, out } = await run('inspect', text);
      expect([code, out]).toEqual([1, expect.stringContaining(message)]);
    }
  });
});

describe('vault token revoke', () => {
  test('writes the revocation down once, and tells of it', async () => {
    await runProgram(['migrate'], { cwd: folder.path, vars });
    const { out: token } = await run('mint', '--app', 'shop');
    const { cid = '' } = readTokens(token.trim())[0] ?? {};
    expect(await run('revoke', cid)).toEqual({ code: 0, out: `${cid}: revoked\n`, err: '' });
    const again = await run('revoke', cid, '--json');
    expect(JSON.parse(again.out)).toEqual({ cid, revoked: true, new: false });
    const database = openSqlite(join(folder.path, 'vault-data/vault.db'));
    try {
      const rows = async (sql: string, args = {}) => (await database.execute({ sql, args })).rows;
      const { sql, args } = selectRevoked(['zdpuother', cid]);
      expect(await rows(sql, args)).toMatchObject([{ cid }]);
      expect(await rows(`SELECT data FROM events WHERE type = 'token.revoked'`)).toMatchObject([
        { data: JSON.stringify({ cid }) },
      ]);
    } finally {
      database.close();
    }
  });

  test('needs a database', async () => {
    const { out } = await run('mint', '--app', 'shop');
    const { code, err } = await run('revoke', readTokens(out.trim())[0]?.cid ?? '');
    expect(code).toBe(1);
    expect(err).toContain('there is no database');
  });
});
