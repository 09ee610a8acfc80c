import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import type { Stack } from '../../scripts/start.ts';
import { temporaryFolder } from '../support/databases.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dir, '../..');
const folder = temporaryFolder();
const world = { WORLD_DIR: folder.path, WORLD_PORTS: 'free' };
const env = { PATH: process.env['PATH'] ?? '', HOME: folder.path, ...world };

/** What `npm start` and `npm run demo` run, in a dev stack of this test's own. */
const spawn = (script: string, ...options: readonly string[]) =>
  Bun.spawn([process.execPath, join(ROOT, 'scripts', script), ...options], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** The program is built and the dev stack started: on a busy machine minutes. */
let start: ReturnType<typeof spawn>;
beforeAll(async () => {
  start = spawn('start.ts');
  const isThere = () => existsSync(join(folder.path, 'stack.json'));
  await until('npm start is ready, or ends', () => isThere() || start.exitCode !== null);
  if (!isThere()) throw new Error(`npm start ended: ${await new Response(start.stdout).text()}`);
});
afterAll(async () => {
  start.kill('SIGTERM');
  await start.exited;
  folder.remove();
});

test('the demo performs the whole main job against what npm start runs', async () => {
  const demo = spawn('demo.ts');
  const [code, output, errors] = await Promise.all([
    demo.exited,
    new Response(demo.stdout).text(),
    new Response(demo.stderr).text(),
  ]);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  for (const line of [
    'POST /v1/console/token',
    'POST /api/verify/send',
    'Subject: Your code for',
    '"verified":true',
    'transaction 0x',
    'pm_sponsorUserOperation',
    '"status":"confirmed","final":true,"proven":true',
    '"found":true',
    'the enclave hashes the DID to the same: 0x',
    '"type":"code.verified"',
    '"type":"registration.confirmed"',
    '"limit":"sends-per-number"',
    'Done: ',
  ])
    expect(output).toContain(line);
});

test('the demo in a browser: signed up, paid, a second passkey, the first one lost, and back, in six pictures', async () => {
  if (!chromium) return;
  const pictures = join(folder.path, 'pictures');
  const demo = spawn('demo.ts', '--browser', '--pictures', pictures);
  const [code, output, errors] = await Promise.all([
    demo.exited,
    new Response(demo.stdout).text(),
    new Response(demo.stderr).text(),
  ]);
  expect({ code, errors, isDone: output.includes('\nDone in ') }).toEqual({ code: 0, errors: '', isDone: true });
  const names = readdirSync(pictures).sort();
  expect(names.map((name) => name.slice(0, 1))).toEqual(['1', '2', '3', '4', '5', '6']);
  for (const name of names) {
    const { size, head } = {
      size: statSync(join(pictures, name)).size,
      head: readFileSync(join(pictures, name)).subarray(1, 4),
    };
    expect([name, head.toString(), size > 5_000]).toEqual([name, 'PNG', true]);
  }
});

const post = async (path: string, body: object, more: Record<string, string> = {}) => {
  const stack: Stack = await Bun.file(join(folder.path, 'stack.json')).json();
  const headers = { 'Content-Type': 'application/json', ...more };
  const response = await fetch(stack.vault + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

test('npm start does not lock its developer out: 40 codes to one address and 10 sessions from this machine', async () => {
  const who = { identifier: 'dev@example.com', channel: 'email' };
  for (let i = 0; i < 40; i++) expect((await post('/api/verify/send', who)).status).toBe(200);
  for (let i = 0; i < 10; i++) {
    const session = { handle: `dev${i}x`, did: 'did:key:z6MkDeveloper' };
    expect(await post('/api/sessions', session)).toMatchObject({ status: 200 });
  }
});

test('one limit stays strict, and the command of the README resets it, from any directory', async () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [command = '', key = ''] = /dist\/vault limits clear .* --key ([^\s`]+)/.exec(readme) ?? [];
  const send = () => post('/api/verify/send', { identifier: key, channel: 'sms' });
  for (let i = 0; i < 5; i++) expect((await send()).status).toBe(200);
  const refused = await send();
  expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited', limit: 'sends-per-number' } });
  const args = command.replaceAll('.world/', `${folder.path}/`).split(' ').slice(1);
  const cleared = Bun.spawnSync([join(ROOT, 'dist/vault'), ...args], { cwd: tmpdir(), env: {} });
  expect([cleared.exitCode, String(cleared.stdout)]).toEqual([0, `sends-per-number sms:${key}: 5 no longer count\n`]);
  expect((await send()).status).toBe(200);
});

test('the inbox gets mails and SMS, those to people of the shop in the shop’s name', async () => {
  const stack: Stack = await Bun.file(join(folder.path, 'stack.json')).json();
  expect(await (await fetch(stack.shop)).text()).toContain('data-app="shop"');
  const [mail, sms] = [
    { identifier: 'tea@example.com', channel: 'email' },
    { identifier: '+14155550177', channel: 'sms' },
  ];
  for (const who of [mail, sms]) {
    expect((await post('/api/verify/send', who, { 'X-Vault-App': 'shop' })).status).toBe(200);
    const query = new URLSearchParams({ to: who.identifier });
    const [message] = await (await fetch(`${stack.inbox}/messages?${query}`)).json();
    expect(message).toMatchObject({ kind: who === mail ? 'mail' : 'sms', code: expect.stringMatching(/^\d{6}$/) });
    if (who === mail) expect(message.subject).toBe('Your code for Tea House: valid 90 seconds');
  }
});

test('npm start offers recovery: its guardian has ether, and mails are sent', async () => {
  const stack: Stack = await Bun.file(join(folder.path, 'stack.json')).json();
  const { guardian } = (await (await fetch(`${stack.vault}/api/contracts`)).json()) as { guardian: string };
  expect(guardian).toMatch(/^0x[0-9a-fA-F]{40}$/);
  const config = join(folder.path, 'vault.env');
  const doctor = Bun.spawn([join(ROOT, 'dist/vault'), 'doctor', '--json', '--config', config], {
    env: {},
    stdout: 'pipe',
  });
  const { checks } = (await new Response(doctor.stdout).json()) as { checks: { name: string; state: string }[] };
  expect(checks.filter(({ name }) => name === 'guardian').map(({ state }) => state)).toEqual(['ok', 'ok']);
});

test('npm start runs what it says can be opened', async () => {
  const stack: Stack = await Bun.file(join(folder.path, 'stack.json')).json();
  for (const page of [`${stack.vault}/console`, `${stack.vault}/account`, stack.inbox, stack.shop])
    expect((await fetch(page)).status).toBe(200);
  expect(await (await fetch(stack.shop)).text()).toContain(stack.vault.replace('127.0.0.1', 'localhost'));
});

test('npm start ends with exit code 0, and the demo then says what is missing and fails', async () => {
  start.kill('SIGTERM');
  expect(await start.exited).toBe(0);
  const said = await new Response(start.stdout).text();
  const secretFile = join(folder.path, 'vault-data/operator.secret');
  expect(said).toContain(`cat ${secretFile}`);
  expect(said).not.toContain(readFileSync(secretFile, 'utf8').trim());
  const demo = spawn('demo.ts');
  expect(await demo.exited).toBe(1);
  expect(await new Response(demo.stderr).text()).toContain('npm start');
});
