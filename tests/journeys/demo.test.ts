import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { appsBeside, TUTORIAL_CLIENTS } from '../../scripts/start.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type DevWorld, startDevWorld } from '../support/dev-world.ts';
import { outputUntil } from '../support/output.ts';
import { awaitSelector, confirmWindow, createPasskeys, makeNew, part, press } from '../support/pay.ts';
import { testTutorial, tutorialVars } from '../support/tutorial.ts';

const ROOT = join(import.meta.dir, '../..');
// Everything beside one `npm start`: to start it takes as long as all else here.

const desk = temporaryFolder();
const appPort = freePort();
let world: DevWorld;
/** Chromium of those who play in none of their own. */
let own: OwnBrowser | undefined;
beforeAll(async () => {
  world = await startDevWorld(tutorialVars(appPort, desk.path));
  own = chromium ? await startShell() : undefined;
});
afterAll(async () => {
  await own?.close();
  await world.stop();
  desk.remove();
});

test('what npm start knows besides the shop is the app of the tutorial, or what a file says', async () => {
  expect(await appsBeside(undefined)).toEqual(TUTORIAL_CLIENTS);
});

describe.skipIf(!chromium)('the tutorial', () => {
  testTutorial(
    appPort,
    () => world,
    () => own as OwnBrowser,
  );
});

test('the demo performs the whole main job against what npm start runs', async () => {
  const { code, output, errors } = await world.run('demo.ts');
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

test.skipIf(!chromium)(
  'the demo in a browser: signed up, paid, a second passkey, the first one lost, and back, in six pictures',
  async () => {
    const pictures = join(world.path, 'pictures');
    const { code, output, errors } = await world.run('demo.ts', '--browser', '--pictures', pictures);
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
  },
);

const post = async (path: string, body: object, more: Record<string, string> = {}) => {
  const headers = { 'Content-Type': 'application/json', ...more };
  const response = await fetch(world.stack.vault + path, { method: 'POST', headers, body: JSON.stringify(body) });
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
  const args = command.replaceAll('.world/', `${world.path}/`).split(' ').slice(1);
  const cleared = Bun.spawnSync([world.program, ...args], { cwd: tmpdir(), env: {} });
  expect([cleared.exitCode, String(cleared.stdout)]).toEqual([0, `sends-per-number sms:${key}: 5 no longer count\n`]);
  expect((await send()).status).toBe(200);
});

test('the inbox gets mails and SMS, those to people of the shop in the shop’s name', async () => {
  const { stack } = world;
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
  const { stack } = world;
  const { guardian } = (await (await fetch(`${stack.vault}/api/contracts`)).json()) as { guardian: string };
  expect(guardian).toMatch(/^0x[0-9a-fA-F]{40}$/);
  const config = join(world.path, 'vault.env');
  const doctor = Bun.spawn([world.program, 'doctor', '--json', '--config', config], {
    env: {},
    stdout: 'pipe',
  });
  const { checks } = (await new Response(doctor.stdout).json()) as { checks: { name: string; state: string }[] };
  expect(checks.filter(({ name }) => name === 'guardian').map(({ state }) => state)).toEqual(['ok', 'ok']);
});

test('npm start runs what it says can be opened', async () => {
  const { stack } = world;
  for (const page of [`${stack.vault}/console`, `${stack.vault}/account`, stack.inbox, stack.shop])
    expect((await fetch(page)).status).toBe(200);
  expect(await (await fetch(stack.shop)).text()).toContain(stack.vault.replace('127.0.0.1', 'localhost'));
});

// A reader who has "A shop in one file" of docs/payments.md and nothing else: the file is saved and the commands are run
// as they stand, in an empty folder. Only the ports are others, as many tests may run at once.

const [, SECTION = ''] =
  /\n## A shop in one file\n([\s\S]*?)\n## /.exec(readFileSync(join(ROOT, 'docs/payments.md'), 'utf8')) ?? [];
const [file = '', start = '', fund = ''] = Array.from(
  SECTION.matchAll(/^```(?:js|sh)\n([\s\S]*?)^```$/gm),
  ([, text]) => text,
);

test('the shop of docs/payments.md is the example', () => {
  expect(file).toBe(readFileSync(join(ROOT, 'examples/apps/shop.mjs'), 'utf8'));
  expect([start, fund]).toEqual(['node shop.mjs\n', 'npm run fund 0x…\n']);
});

test('a browser asks the shop in one file for no icon, which it does not have', () => {
  expect(file).toContain('<link rel="icon" href="data:,">');
});

describe.skipIf(!chromium)('the shop in one file', () => {
  const passkeys = createPasskeys();
  let shop: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  let origin = '';

  beforeAll(async () => {
    writeFileSync(join(desk.path, 'shop.mjs'), file);
    const port = freePort();
    origin = `http://localhost:${port}`;
    const vault = world.stack.vault.replace('127.0.0.1', 'localhost');
    shop = open({ VAULT: vault, PORT: `${port}` });
    await outputUntil(shop.stdout, origin);
  });
  afterAll(() => shop?.kill());

  const open = (env: Record<string, string>) =>
    Bun.spawn(['sh', '-c', `exec ${start}`], {
      cwd: desk.path,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  /** What the page says once it matches. */
  const says = async (page: Page, wanted: RegExp) => {
    const said = await page.waitForFunction(
      (pattern) => {
        const text = document.getElementById('says')?.textContent ?? '';
        return new RegExp(pattern).test(text) ? text : '';
      },
      {},
      wanted.source,
    );
    return said.jsonValue();
  };

  test('takes a payment of somebody new, with test money, and finds it on the chain', async () => {
    const page = await (own as OwnBrowser).browser.newPage();
    await page.goto(origin);
    await awaitSelector(page, '#buy:enabled');
    // Where the browser has no payment handlers, as most have none, the vault opens in a window.
    await page.evaluate('delete window.PaymentRequest');
    await page.click('#buy');
    const confirm = await confirmWindow({ own: own as OwnBrowser }, passkeys);
    await makeNew(confirm);
    expect(await part(confirm, 'review')).toContain('Not enough USDC');
    await press(confirm, 'add');
    await awaitSelector(confirm, '#funds');
    const account = await confirm.$eval('#funds-whole', (one) => one.textContent ?? '');
    expect(account).toMatch(/^0x[0-9a-fA-F]{40}$/);
    const [, , script = ''] = fund.trim().split(' ');
    expect(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts[script]).toBe('bun scripts/fund.ts');
    expect(await world.run('fund.ts', account)).toMatchObject({ code: 0, errors: '' });
    // The page sees the money, and goes on by itself.
    await press(confirm, 'approve');
    expect(await says(page, /^Paid, for good: 0x[0-9a-f]{64}$/)).toStartWith('Paid, for good: 0x');
    await page.close();
  });

  test('a payment that was cancelled can be made again, and a forged receipt is none', async () => {
    const page = await (own as OwnBrowser).browser.newPage();
    await page.goto(origin);
    await awaitSelector(page, '#buy:enabled');
    await page.evaluate('delete window.PaymentRequest');
    await page.click('#buy');
    await press(await confirmWindow({ own: own as OwnBrowser }, passkeys), 'cancel');
    expect(await says(page, /^No payment yet: /)).toContain('Cancelled');
    await awaitSelector(page, '#buy:enabled');
    const headers = { 'Content-Type': 'application/json' };
    const post = async (path: string, body: string) =>
      (await fetch(origin + path, { method: 'POST', headers, body })).text();
    expect(JSON.parse(await post('/paid', '{"id":"mine","receipt":{}}'))).toEqual({
      status: 'unpaid',
      reason: 'no_order',
    });
    const { id } = JSON.parse(await post('/orders', '{}')) as { id: string };
    expect(JSON.parse(await post('/paid', JSON.stringify({ id })))).toMatchObject({ status: 'unverifiable' });
    const invented = { userOpHash: `0x${'12'.repeat(32)}`, account: `0x${'a1'.repeat(20)}` };
    expect(JSON.parse(await post('/paid', JSON.stringify({ id, receipt: invented })))).toMatchObject({
      status: 'pending',
    });
    expect(await post('/paid', 'nonsense')).toBe('Not understood\n');
  });

  test('without a vault says where it looked', async () => {
    const away = open({ VAULT: 'http://localhost:9' });
    expect(await away.exited).toBe(1);
    expect(await new Response(away.stderr).text()).toStartWith('No vault answers at http://localhost:9. Start one, ');
  });
});

test('SIGTERM to npm alone while the whole dev stack runs ends everything, with exit code 0', async () => {
  expect((await world.end()).code).toBe(0);
  expect(existsSync(join(world.path, 'stack.json'))).toBe(false);
});

test('npm start said where its secret is, and not the secret; once it has ended the demo says what is missing', async () => {
  const said = world.printed();
  const secretFile = join(world.path, 'vault-data/operator.secret');
  expect(said).toContain(`cat ${secretFile}`);
  expect(said).not.toContain(readFileSync(secretFile, 'utf8').trim());
  expect(said).toContain('npm run fund 0x');
  const demo = await world.run('demo.ts');
  expect([demo.code, demo.errors]).toEqual([1, expect.stringContaining('npm start')]);
});
