import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { libsqlProgram, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { runProgram } from '../support/run.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const VARS = {
  // The registrar's DID follows from it, and a restart may get another port.
  BASE_URL: 'http://localhost:8787',
  RPC_URL: 'http://127.0.0.1:1',
  MAX_REGISTRATIONS_PER_IP: '1000000',
  MAX_VERIFY_SENDS_PER_IP: '1000000',
  RATE_LIMIT_READS_PER_IP: '1000000',
  RATE_LIMIT_WRITES_PER_IP: '1000000000',
};

let folder: ReturnType<typeof temporaryFolder>;
let program: Program | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await program?.stop();
  program = undefined;
  folder.remove();
});

const call = async (line: string, body?: unknown) => {
  const [method = 'GET', path = '/'] = line.split(' ');
  const sent =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
  const response = await fetch(`${program?.url}${path}`, { method, ...sent });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered.
  return { status: response.status, body: (await response.json()) as any };
};

/** Proves an address of mail with the printed code. */
async function prove(identifier: string) {
  const who = { identifier, channel: 'email' };
  expect((await call('POST /api/verify/send', who)).status).toBe(200);
  const entry = await until('the code is printed', () => {
    const lines = program?.output().split('\n') ?? [];
    return lines.findLast((line) => line.includes('"event":"code"') && line.includes(`"${identifier}"`));
  });
  const { body } = await call('POST /api/verify/check', { ...who, code: JSON.parse(entry).code });
  expect(body).toMatchObject({ verified: true });
  return body.attestation;
}

const credential = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
const txHash = () => `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`;

/** People who open sessions and register without end; `acknowledged` are those whose every answer has come. */
function startLoad() {
  const acknowledged: { identifier: string; credentialId: string }[] = [];
  let isOn = true;
  let next = 0;
  const person = async () => {
    while (isOn) {
      const name = `load${next++}`;
      const did = `did:key:z${name}`;
      const identifier = `${name}@example.com`;
      const credentialId = credential();
      const session = await call('POST /api/sessions', { identifier, channel: 'email', did });
      const claim = await call('POST /api/dids', { handle: name, did, credentialId, txHash: txHash() });
      expect([session.status, claim.status]).toEqual([200, 200]);
      acknowledged.push({ identifier, credentialId });
    }
  };
  const people = Promise.all(Array.from({ length: 8 }, person));
  return {
    acknowledged,
    async stop() {
      isOn = false;
      await people;
    },
  };
}

/** The people of whom the running vault does not know the registration, or the file not the session. */
async function missingOf(people: readonly { identifier: string; credentialId: string }[], file: string) {
  const database = new Database(join(folder.path, file), { readonly: true });
  const sessions = new Set(
    database
      .query('SELECT identifier FROM sessions')
      .values()
      .map(([key]) => key),
  );
  database.close();
  const missing: string[] = [];
  for (const { identifier, credentialId } of people) {
    const found = await call(`GET /api/dids/lookup?credentialId=${credentialId}`);
    if (found.status !== 200 || !sessions.has(`email:${identifier}`)) missing.push(identifier);
  }
  return missing;
}

describe('a vault on a file', () => {
  const start = async (dir: string) => {
    program = await startProgram({ ...VARS, DATA_DIR: dir }, { cwd: folder.path });
  };
  const run = (...args: string[]) => runProgram(args, { cwd: folder.path, vars: VARS });

  test('backed up under load and restored elsewhere, has everything it had acknowledged before', async () => {
    await start('one');
    const alice = { identifier: 'alice@example.com', channel: 'email' };
    const attestation = await prove(alice.identifier);
    expect(await run('keys', 'rotate', '--data-dir', 'one')).toMatchObject({ code: 0 });
    const load = startLoad();
    await until('50 people are in', () => load.acknowledged.length >= 50);
    const before = [...load.acknowledged];
    const made = await run('backup', 'a.backup', '--with-secrets', '--data-dir', 'one', '--json');
    expect(made.code).toBe(0);
    // It was under load: in a crowd none of the eight who wait may have had an answer while it ran.
    await until('people go on coming', () => load.acknowledged.length > before.length);
    await load.stop();
    expect(await program?.stop()).toBe(0);

    const restored = await run('restore', 'a.backup', '--with-secrets', '--data-dir', 'two', '--json');
    expect(restored.code).toBe(0);
    expect(JSON.parse(restored.out).rows).toEqual(JSON.parse(made.out).rows);
    expect(readdirSync(join(folder.path, 'two')).sort()).toEqual([
      'attestation.keys',
      'operator.secret',
      'restore.lock',
      'vault.db',
      'vault.secret',
    ]);
    await start('two');
    expect(await missingOf(before, 'two/vault.db')).toEqual([]);
    expect((await call(`GET /api/verify/status?identifier=${alice.identifier}&channel=email`)).body.verified).toBe(
      true,
    );
    // Signed by the key from before the rotation, in the vault from before the backup.
    const claim = { ...alice, did: 'did:key:zalice', credentialId: credential(), txHash: txHash(), attestation };
    expect(await call('POST /api/dids', claim)).toMatchObject({ status: 200 });
    const forged = { ...claim, attestation: { ...attestation, signature: `0x${'00'.repeat(32)}` } };
    expect(await call('POST /api/dids', { ...forged, credentialId: credential() })).toMatchObject({
      status: 403,
      body: { error: 'attestation_invalid', hint: expect.any(String) },
    });
  });

  test('is not restored over while it runs, and what was there is kept', async () => {
    await start('one');
    await prove('alice@example.com');
    expect((await run('backup', 'a.backup', '--data-dir', 'one')).code).toBe(0);
    await prove('bob@example.com');
    const refused = await run('restore', 'a.backup', '--overwrite', '--data-dir', 'one');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('a vault is running on');
    const status = async (who: string) =>
      (await call(`GET /api/verify/status?identifier=${who}@example.com&channel=email`)).body;
    expect(await status('bob')).toMatchObject({ verified: true });
    await program?.stop();

    expect((await run('restore', 'a.backup', '--data-dir', 'one')).err).toContain('the database is not empty');
    const { code, out } = await run('restore', 'a.backup', '--overwrite', '--data-dir', 'one', '--json');
    expect(code).toBe(0);
    expect(existsSync(JSON.parse(out).keptAs)).toBe(true);
    await start('one');
    expect(await status('alice')).toMatchObject({ verified: true });
    expect(await status('bob')).toMatchObject({ verified: false });
  });
});

describe.skipIf(!libsqlProgram())('a vault on a libSQL server', () => {
  test('backed up under load and restored into an empty server, has everything it had acknowledged before', async () => {
    const [one, two] = await Promise.all(['one', 'two'].map((name) => startLibsql({ dir: join(folder.path, name) })));
    if (!one || !two) throw new Error('there is no libSQL server');
    const secrets = { ...VARS, VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff') };
    const start = async (url: string) => {
      program = await startProgram({ ...secrets, DATABASE_URL: url }, { cwd: folder.path });
    };
    const run = (url: string, ...args: string[]) =>
      runProgram(args, { cwd: folder.path, vars: { ...secrets, DATABASE_URL: url } });
    try {
      await start(one.url);
      const attestation = await prove('alice@example.com');
      const load = startLoad();
      await until('30 people are in', () => load.acknowledged.length >= 30);
      const before = [...load.acknowledged];
      const made = await run(one.url, 'backup', 'a.backup', '--json');
      expect(made).toMatchObject({ code: 0 });
      await load.stop();
      await program?.stop();

      expect((await run(one.url, 'restore', 'a.backup')).err).toContain('the database already has tables');
      const restored = await run(two.url, 'restore', 'a.backup', '--json');
      expect(restored).toMatchObject({ code: 0 });
      expect(JSON.parse(restored.out)).toMatchObject({ authenticated: 'hmac', rows: JSON.parse(made.out).rows });
      await start(two.url);
      expect(await missingOf(before, 'a.backup')).toEqual([]);
      const alice = { identifier: 'alice@example.com', channel: 'email', did: 'did:key:zalice' };
      const claim = { ...alice, credentialId: credential(), txHash: txHash(), attestation };
      expect(await call('POST /api/dids', claim)).toMatchObject({ status: 200 });
      await program?.stop();
      program = undefined;
      // And from the server into a file.
      const { code } = await runProgram(['restore', 'a.backup', '--data-dir', 'three'], {
        cwd: folder.path,
        vars: { ...VARS, VAULT_SECRET },
      });
      expect(code).toBe(0);
      expect(readdirSync(join(folder.path, 'three')).sort()).toEqual(['restore.lock', 'vault.db']);
    } finally {
      await program?.stop();
      program = undefined;
      await Promise.all([one.stop(), two.stop()]);
    }
  });
});
