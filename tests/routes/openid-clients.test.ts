import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClientSecret, secretDigest } from '../../lib/clients/secret.ts';
import { type Candidate, startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import {
  answer,
  basic,
  bearer,
  CLIENTS,
  clientsFile,
  codeFor,
  exchange,
  OPENID_VARS,
  partsOf,
  requestOf,
  SECRETS,
  tokensFor,
} from '../support/openid.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// What entries of CLIENTS and settings change of sign-ins, and what is counted of each app.

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

const NEXT = createClientSecret((length) => new Uint8Array(randomBytes(length)));
const ENTRIES = {
  tea: { ...CLIENTS.tea, secrets: [...CLIENTS.tea.secrets, secretDigest(NEXT)] },
  wiki: { ...CLIENTS.wiki, sector: 'tea' },
  page: CLIENTS.page,
};

let t: TestVault;
let alice: Candidate;
beforeAll(async () => {
  t = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile(ENTRIES));
  alice = await registerNewcomer(chain, t);
});
afterAll(() => t.stop());

const others: TestVault[] = [];
afterEach(async () => {
  for (const one of others.splice(0)) await one.stop();
});
/** Another vault on the same database, with settings of its own. */
async function beside(vars: Readonly<Record<string, string>>): Promise<TestVault> {
  const host = { ...clientsFile(ENTRIES), database: t.database, clock: t.clock };
  const one = await startVault({ ...chain.vars, ...OPENID_VARS, ...vars }, host);
  others.push(one);
  return one;
}

const BAD = 'x'.repeat(43);

describe('§2 entries of CLIENTS', () => {
  test('sector: its clients get the same sub of a person, and others another one', async () => {
    const subs: unknown[] = [];
    for (const app of ['tea', 'wiki', 'page'] as const)
      subs.push((await tokensFor(t, alice, requestOf(app, { scope: 'openid' }))).claims['sub']);
    expect(subs[1]).toBe(subs[0]);
    expect(subs[2]).not.toBe(subs[0]);
  });

  test('secrets: while one is replaced both are taken, by Basic and in the form', async () => {
    const ways = [SECRETS.tea, NEXT].flatMap((secret) => [
      [{}, basic('tea', secret)] as const,
      [{ client_id: 'tea', client_secret: secret }, {}] as const,
    ]);
    for (const [form, headers] of ways) {
      const request = requestOf();
      const { status, body } = await exchange(t, request, await codeFor(t, alice, request), form, headers);
      expect([status, body.error]).toEqual([200, undefined]);
    }
  });
});

test('§5 Basic: both halves are form-decoded', async () => {
  const encoded = (text: string) => Array.from(text, (char) => `%${char.charCodeAt(0).toString(16)}`).join('');
  const pair = Buffer.from(`${encoded('tea')}:${encoded(SECRETS.tea)}`).toString('base64');
  const request = requestOf();
  const code = await codeFor(t, alice, request);
  const { status, body } = await exchange(t, request, code, {}, { Authorization: `Basic ${pair}` });
  expect([status, body.error]).toEqual([200, undefined]);
});

test('§6 ID_TOKEN_SECONDS: so long is the ID token good, and the access token', async () => {
  const own = await beside({ ID_TOKEN_SECONDS: '900' });
  const request = requestOf();
  const { body } = await exchange(own, request, await codeFor(t, alice, request));
  const [, claims = {}] = partsOf(body.id_token);
  expect([body.expires_in, Number(claims['exp']) - Number(claims['iat'])]).toEqual([900, 900]);
  const read = async () => (await own.call('GET /userinfo', {}, bearer(body.access_token))).status;
  await t.clock.advance(899_000);
  expect(await read()).toBe(200);
  await t.clock.advance(1_000);
  expect(await read()).toBe(401);
});

test('§4 an attestation makes a code for one request: another scope, nonce or state is another one', async () => {
  const { credentialId, attestation } = (await registerNewcomer(chain, t)).body;
  const ask = (query: string) =>
    t.call('POST /authorize/code', { request: query, credentialId, attestation, identifiers: {} });
  const { query } = requestOf();
  expect((await ask(query)).body.location).toContain('code=');
  for (const [name, value] of [
    ['scope', 'openid email did'],
    ['nonce', 'another'],
    ['state', 'another'],
  ] as const) {
    const changed = new URLSearchParams(query);
    changed.set(name, value);
    const { body } = await ask(String(changed));
    expect([name, body.error, body.reason]).toEqual([name, 'proof_invalid', 'used']);
  }
});

describe('§9 what is counted', () => {
  test('429 rate_limited: an authenticated app and a valid token count for the app, all else for the network', async () => {
    const own = await beside({ RATE_LIMIT_PER_CLIENT: '3', RATE_LIMIT_READS_PER_IP: '3' });
    const [mine, open] = [requestOf('tea'), requestOf('page')];
    const [code, openCode] = [await codeFor(t, alice, mine), await codeFor(t, alice, open)];
    const read = (token: string) => own.call('GET /userinfo', {}, bearer(token));
    const failed = [
      await exchange(own, mine, BAD, {}, basic('tea', 'wrong')),
      await read(BAD),
      await exchange(own, open, BAD),
      await read(BAD),
      await exchange(own, open, BAD),
    ];
    expect(failed.map(({ status, body }) => [status, body.limit])).toEqual([
      [401, undefined],
      [401, undefined],
      [400, undefined],
      [429, 'reads-per-ip'],
      [429, 'reads-per-ip'],
    ]);
    // The network has nothing left: what follows does not count there.
    const { body: tokens } = await exchange(own, mine, code);
    const { body: openTokens } = await exchange(own, open, openCode);
    const later = [
      await read(tokens.access_token),
      await exchange(own, mine, BAD),
      await read(tokens.access_token),
      await exchange(own, mine, BAD),
      await read(openTokens.access_token),
    ];
    expect(later.map(({ status, body }) => [status, body.limit])).toEqual([
      [200, undefined],
      [400, undefined],
      [429, 'requests-per-app'],
      [429, 'requests-per-app'],
      [200, undefined],
    ]);
  });

  test('vault_token_requests_total: each outcome, as 0 from the start', async () => {
    const own = await beside({ ALLOWED_ORIGINS: 'https://app.example' });
    const counts = async () => {
      const { text } = await own.call('GET /metrics');
      const lines = text.matchAll(/^vault_token_requests_total\{outcome="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries(Array.from(lines, ([, outcome, count]) => [outcome, Number(count)]));
    };
    const outcomes = ['invalid_request', 'invalid_client', 'unsupported_grant_type', 'invalid_grant', 'invalid_target'];
    const all = (count: number) => Object.fromEntries(['answered', ...outcomes, 'failed'].map((one) => [one, count]));
    expect(await counts()).toEqual(all(0));
    const request = requestOf();
    const code = await codeFor(t, alice, request);
    await exchange(own, request, code, { redirect_uri: undefined });
    await exchange(own, request, code, {}, basic('tea', 'wrong'));
    await exchange(own, request, code, { grant_type: 'refresh_token' });
    await exchange(own, request, BAD);
    await exchange(own, request, code, { resource: 'https://mcp.evil.example/mcp' });
    await exchange(own, request, code, {}, { ...basic('tea', SECRETS.tea), Origin: 'https://evil.example' });
    expect((await exchange(own, request, code)).status).toBe(200);
    expect(await counts()).toEqual(all(1));
  });
});

test('§7 403 origin_not_allowed: where ALLOWED_ORIGINS is set, /userinfo takes it and the pages of the token’s client', async () => {
  const own = await beside({ ALLOWED_ORIGINS: 'https://app.example' });
  const { access_token } = await tokensFor(t, alice, requestOf('page'));
  const said: unknown[] = [];
  for (const Origin of ['https://app.example', 'http://localhost:4001', 'https://tea.example', 'null']) {
    const reply = await own.call('GET /userinfo', {}, { ...bearer(access_token), Origin });
    // What is answered, the page may read.
    said.push([reply.body.error, reply.headers.get('access-control-allow-origin')]);
  }
  const refused = ['origin_not_allowed', '*'];
  expect(said).toEqual([[undefined, '*'], [undefined, '*'], refused, refused]);
  const preflight = await fetch(`${own.url}/userinfo`, {
    method: 'OPTIONS',
    headers: {
      origin: 'http://localhost:4001',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    },
  });
  expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization');
  // The page of sign-ins alone asks for codes.
  expect((await answer(own, alice, requestOf())).headers.get('access-control-allow-origin')).toBeNull();
});

test.skipIf(!Bun.which('curl'))('docs/openid.md: the exchange by hand, for a public client', async () => {
  const document = readFileSync(join(import.meta.dir, '../../docs/openid.md'), 'utf8');
  const [, exchangeLine = '', readLine = ''] = /```sh\n(curl [\s\S]*?[^\\])\n(curl .*)\n```/.exec(document) ?? [];
  const request = requestOf('page');
  const run = async (line: string, ...values: readonly string[]) => {
    const own = line.replace('https://vault.example.com', t.url).replace('https://page.example/', request.redirectUri);
    const command = values.reduce((text, value) => text.replace('…', value), own);
    return JSON.parse(await new Response(Bun.spawn(['sh', '-c', command]).stdout).text());
  };
  const { access_token } = await run(exchangeLine, await codeFor(t, alice, request), String(request.verifier));
  expect(await run(readLine, access_token)).toMatchObject({ email: alice.body['identifier'] });
});
