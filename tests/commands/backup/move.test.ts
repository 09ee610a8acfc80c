import { afterAll, afterEach, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LibsqlServer, libsqlProgram, startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { runProgram } from '../../support/run.ts';
import { until } from '../../support/until.ts';

const ROOT = join(import.meta.dir, '../../..');
const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
let program: Program | undefined;
let server: LibsqlServer | undefined;
afterEach(async () => {
  await program?.stop('SIGKILL');
  await server?.stop();
});
afterAll(() => folder.remove());

/** The commands that the page has for a move, in their order. */
const [, block = ''] = /## Moving to a libSQL server[\s\S]*?```sh\n([\s\S]*?)```/.exec(read('docs/scaling.md')) ?? [];
const commands = block.split('\n').filter((line) => /^(?:systemctl|vault|echo) /.test(line));

test('the page has the commands of a move', () => {
  expect(commands.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'systemctl stop',
    'vault backup',
    "echo 'DATABASE_URL=http://db.internal:8080'",
    "echo 'VAULT_SECRET_FILE=/var/lib/vault/vault.secret'",
    "echo 'OPERATOR_SECRET_FILE=/var/lib/vault/operator.secret'",
    'vault restore',
    'systemctl start',
  ]);
});

test.skipIf(!libsqlProgram())('a vault that moved to a libSQL server by them is the same vault', async () => {
  server = await startLibsql({ dir: at('server') });
  const url = server?.url ?? '';
  writeFileSync(at('vault.env'), `DATA_DIR=${at('data')}\n`);
  await serve();
  await register('alice');
  await post('/api/verify/send', { ...BOB, channel: 'email' }, { 'Idempotency-Key': 'bob-1' });
  const code = await codeOf(BOB.identifier);
  const before = await look('alice');
  const rows = (await vault('export')).out;
  expect(rows.trim().split('\n')).toHaveLength(1);

  for (const command of commands) await type(command, url);

  expect(readFileSync(at('vault.env'), 'utf8')).toContain(`DATABASE_URL=${url}\n`);
  expect((await vault('export')).out).toBe(rows);
  expect(await look('alice')).toEqual(before);
  // The key of a request, the code that was sent, and the slots that are used.
  const again = await post('/api/verify/send', { ...BOB, channel: 'email' }, { 'Idempotency-Key': 'bob-1' });
  expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 'true']);
  const checked = await post('/api/verify/check', { ...BOB, channel: 'email', code });
  expect(await checked.json()).toMatchObject({ verified: true });
  expect((await post('/api/sessions', { handle: 'alice', did: 'did:key:zmallory' })).status).toBe(409);
  await register('carol');
  const ids = (await vault('export')).out.trim().split('\n');
  expect(ids.map((line) => JSON.parse(line).id)).toEqual([1, 2]);

  // Nothing is written over what a vault has: neither beside it nor after it stopped.
  for (const isStopped of [false, true]) {
    if (isStopped) await program?.stop();
    const { code, err } = await vault('restore', at('move.backup'));
    expect([code, err]).toEqual([1, expect.stringContaining('the database already has tables')]);
    expect((await vault('export')).out.trim().split('\n')).toEqual(ids);
  }

  // And back into a file.
  expect((await vault('backup', at('back.backup'))).code).toBe(0);
  const back = ['--database-url', `file:${at('back.db')}`];
  expect((await vault('restore', at('back.backup'), ...back)).code).toBe(0);
  expect((await vault('export', ...back)).out.trim().split('\n')).toEqual(ids);
});

const BOB = { identifier: 'bob@example.com' };

function vault(...args: string[]) {
  return runProgram([...args, '--config', at('vault.env')], { cwd: folder.path });
}

async function serve(): Promise<void> {
  program = await startProgram({}, { cwd: folder.path, args: ['--config', at('vault.env')] });
}

/** Runs a line of the page with this test's paths and server. */
async function type(line: string, url: string): Promise<void> {
  const own = line
    .replaceAll('/etc/vault/vault.env', at('vault.env'))
    .replaceAll('/var/backups/', `${folder.path}/`)
    .replaceAll('/var/lib/vault/', `${at('data')}/`)
    .replaceAll('http://db.internal:8080', url);
  if (own === 'systemctl stop vault') expect(await program?.stop()).toBe(0);
  else if (own === 'systemctl start vault') await serve();
  else if (own.startsWith('vault ')) {
    const { code, err } = await runProgram(own.split(' ').slice(1), { cwd: folder.path });
    expect({ own, code, err }).toMatchObject({ code: 0 });
  } else expect(Bun.spawnSync(['sh', '-c', own]).exitCode).toBe(0);
}

function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const all = { 'Content-Type': 'application/json', ...headers };
  return fetch(`${program?.url}${path}`, { method: 'POST', headers: all, body: JSON.stringify(body) });
}

async function register(handle: string): Promise<void> {
  const claim = { did: `did:key:z${handle}`, credentialId: credentialOf(handle), txHash: `0x${'1'.repeat(64)}` };
  expect((await post('/api/dids', { handle, ...claim })).status).toBe(200);
}

async function look(handle: string): Promise<unknown> {
  return (await fetch(`${program?.url}/api/dids/lookup?credentialId=${credentialOf(handle)}`)).json();
}

function credentialOf(handle: string): string {
  return Buffer.from(handle.padEnd(16, '.')).toString('base64url');
}

function codeOf(to: string): Promise<string> {
  return until('the code is printed', () => {
    const lines = (program?.output() ?? '').split('\n').filter((line) => line.startsWith('{'));
    const sent = lines.map((line) => JSON.parse(line)).findLast((entry) => entry.event === 'code' && entry.to === to);
    return sent?.code;
  });
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
