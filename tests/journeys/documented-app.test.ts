import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolPath } from '../../scripts/testing/tools.ts';
import { type Candidate, startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/databases.ts';
import { answer, CLIENTS, clientsFile, OPENID_VARS, SECRETS } from '../support/openid.ts';
import { outputUntil } from '../support/output.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// The app of docs/openid-apps.md, as it stands there, on Node. Its origin is known before the vault that it signs in at.

const DOCUMENT = readFileSync(join(import.meta.dir, '../../docs/openid-apps.md'), 'utf8');
const chain = await startRelayChain({ startsAt: Date.now() });
afterAll(chain.stop);

const folder = temporaryFolder();
let port = 0;
const front = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    return fetch(`http://127.0.0.1:${port}${pathname}${search}`, { headers: request.headers, redirect: 'manual' });
  },
});
const home = `http://localhost:${front.port}`;

let t: TestVault;
let alice: Candidate;
let app: ReturnType<typeof startApp>;
beforeAll(async () => {
  const clients = { ...CLIENTS, tea: { ...CLIENTS.tea, redirect_uris: [`${home}/back`] } };
  t = await startVault({ ...chain.vars, ...OPENID_VARS }, { ...clientsFile(clients), clock: testClock(Date.now()) });
  alice = await registerNewcomer(chain, t);
  const [, code = ''] = /```js\n(import \{ createServer[\s\S]*?)```/.exec(DOCUMENT) ?? [];
  writeFileSync(join(folder.path, 'app.mjs'), code);
  symlinkSync(toolPath('.'), join(folder.path, 'node_modules'));
  app = startApp();
  port = await portOf(app);
});
afterAll(async () => {
  app.kill();
  await app.exited;
  await front.stop(true);
  await t.stop();
  folder.remove();
});

function startApp(more: Readonly<Record<string, string>> = {}) {
  const settings = { ISSUER: originOf(t), CLIENT_ID: 'tea', CLIENT_SECRET: SECRETS.tea, ORIGIN: home, PORT: '0' };
  return Bun.spawn(['node', 'app.mjs'], {
    cwd: folder.path,
    // As every shell has it: no setting of the app may have its name.
    env: { PATH: process.env['PATH'] ?? '', HOME: folder.path, ...settings, ...more },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

async function portOf({ stdout }: ReturnType<typeof startApp>): Promise<number> {
  return Number(/port (\d+)/.exec(await outputUntil(stdout, '.\n'))?.[1]);
}

const open = (url: string, cookie = '') => fetch(url, { headers: { cookie }, redirect: 'manual' });

/** Presses the app's link: the vault's request, and the cookie that the browser has then. */
async function begin() {
  expect(await (await open(`${home}/`)).text()).toContain('href="/login"');
  const { headers } = await open(`${home}/login`);
  const link = new URL(headers.get('location') ?? '');
  expect([link.origin, link.pathname]).toEqual([originOf(t), '/authorize']);
  return { query: link.search.slice(1), cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
}

describe('the app of docs/openid-apps.md', () => {
  test('signs a person in', async () => {
    const { query, cookie } = await begin();
    const { body } = await answer(t, alice, { query });
    const text = await (await open(body.location, cookie)).text();
    expect(text).toMatch(new RegExp(`^Hello ${alice.body['identifier']}: you are [\\w-]{43}\\.$`));
  });

  test('says that the person cancelled, and signs nobody in by a link that another browser began', async () => {
    const { query, cookie } = await begin();
    const cancelled = await t.call('POST /authorize/code', { request: query, cancelled: true });
    const told = await open(cancelled.body.location, cookie);
    expect([told.status, await told.text()]).toEqual([400, 'the person cancelled']);
    const own = await begin();
    const { body } = await answer(t, alice, { query: own.query });
    const stranger = await open(body.location);
    expect([stranger.status, await stranger.text()]).toEqual([400, 'This browser began no sign-in here.']);
  });

  test('says of a wrong secret and of another issuer what the document has it say', async () => {
    const [own, forgetful] = [port, startApp({ CLIENT_SECRET: 'wrong' })];
    port = await portOf(forgetful);
    const { query, cookie } = await begin();
    const { body } = await answer(t, alice, { query });
    const told = await (await open(body.location, cookie)).text();
    port = own;
    forgetful.kill();
    expect(DOCUMENT).toContain(`| \`${told}\` |`);
    const stray = await new Response(startApp({ ISSUER: t.url }).stderr).text();
    const [, said = ''] = /ClientError: (.*)/.exec(stray) ?? [];
    expect(DOCUMENT).toContain(`| \`${said}\` |`);
  });
});
