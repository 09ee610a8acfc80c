import { afterAll, afterEach, expect, test } from 'bun:test';
import { startRelayChain } from '../../support/candidates.ts';
import { testClock } from '../../support/clock.ts';
import { OPERATOR } from '../../support/events.ts';
import {
  answer,
  basic,
  CLIENTS,
  clientsFile,
  codeFor,
  exchange,
  OPENID_VARS,
  replaceSigningKey,
  requestOf,
  SECRETS,
} from '../../support/openid.ts';
import { createPasskey } from '../../support/passkey.ts';
import { registerNewcomer } from '../../support/sign-ups.ts';
import { originOf } from '../../support/touch.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

const vaults: TestVault[] = [];
afterEach(async () => {
  for (const one of vaults.splice(0).reverse()) await one.stop();
});
const start = async (...[vars, host]: Parameters<typeof startVault>) => {
  const t = await startVault(vars, host);
  vaults.push(t);
  return t;
};
const ask = async (t: TestVault) => (await t.call('GET /v1/console/apps', {}, OPERATOR)).body;

test('apps of CLIENTS: how they are set up, sign-ins and refusals of a day by reason, no secret and no person', async () => {
  const t = await start({ ...chain.vars, ...OPENID_VARS }, clientsFile());
  await t.work();
  const before = await ask(t);
  expect(before.signing_keys).toMatchObject([{ state: 'signing', ends_at: null }]);
  expect(before.apps.map(({ client_id, signins, refusals }: never) => [client_id, signins, refusals])).toEqual(
    Object.keys(CLIENTS).map((client) => [client, 0, []]),
  );

  const alice = await registerNewcomer(chain, t);
  const request = requestOf();
  const code = await codeFor(t, alice, request);
  await exchange(t, request, code, { code_verifier: 'y'.repeat(43) });
  expect((await exchange(t, request, code)).status).toBe(200);
  await exchange(t, request, code);
  for (const secret of ['wrong', SECRETS.wiki]) await exchange(t, request, code, {}, basic('tea', secret));
  await exchange(t, request, code, {}, basic('stranger', 'wrong'));
  await exchange(t, request, code, { grant_type: 'refresh_token' });
  await answer(t, { ...alice, passkey: createPasskey() }, requestOf());
  await t.call('POST /authorize/code', { request: requestOf('page').query, cancelled: true });
  await t.call(`GET /authorize?${requestOf('wiki', { redirect_uri: 'https://tea.example/back' }).query}`);
  await t.call(`GET /authorize?${requestOf('wiki', { prompt: 'none' }).query}`);
  await t.call(`GET /authorize?${requestOf('tea', { client_id: 'made-up' }).query}`);

  const found = await ask(t);
  const [tea, wiki, page] = found.apps;
  const refused = (stage: string, reason: string, count = 1) => ({ stage, reason, count });
  expect(tea).toEqual({
    client_id: 'tea',
    name: new URL(originOf(t)).host,
    kind: 'confidential',
    authentication: ['client_secret_basic', 'client_secret_post'],
    secrets: 1,
    pkce: 'required',
    sector: 'tea',
    redirect_uris: ['https://tea.example/back'],
    codes: 1,
    signins: 1,
    last_signin_at: expect.stringMatching(/^2025-01-01T/),
    refusals: expect.any(Array),
  });
  expect(tea.refusals[0]).toEqual(refused('token', 'invalid_client', 2));
  const rest = ['verifier', 'used', 'unsupported_grant_type'].map((reason) => refused('token', reason));
  expect(tea.refusals).toHaveLength(5);
  expect(tea.refusals).toEqual(expect.arrayContaining([...rest, refused('page', 'signature')]));
  expect(wiki).toMatchObject({ kind: 'confidential', pkce: 'optional', signins: 0, last_signin_at: null });
  expect(wiki.refusals).toEqual([refused('link', 'redirect_uri_unknown'), refused('link', 'login_required')]);
  expect(page).toMatchObject({ kind: 'public', authentication: ['none'], secrets: 0 });
  expect(page.refusals).toEqual([refused('page', 'access_denied')]);
  expect(found.others).toEqual({
    codes: 0,
    signins: 0,
    last_signin_at: null,
    refusals: [refused('link', 'client_unknown')],
  });
  const text = JSON.stringify(found);
  const digest = CLIENTS.tea.secrets[0].slice(7);
  for (const hidden of [digest, alice.did, String(alice.body['identifier']), 'made-up', 'stranger'])
    expect(text).not.toContain(hidden);

  // Another process reads what was written, for a day.
  await t.clock.advance(60_000);
  await t.work();
  const vars = { ...chain.vars, ...OPENID_VARS };
  const other = await start(vars, { ...clientsFile(), database: t.database, clock: t.clock });
  const { since: _, ...same } = await ask(other);
  expect(same.apps[0].refusals).toEqual(tea.refusals);
  await t.clock.advance(86_400_000);
  expect((await ask(other)).apps[0]).toMatchObject({ codes: 0, signins: 0, last_signin_at: null, refusals: [] });
  // The charts have their own counters alone.
  const { totals } = (await t.call('GET /v1/console/history', { range: 'day' }, OPERATOR)).body;
  expect(Object.keys(totals).filter((key) => key.startsWith('app.'))).toEqual([]);
});

test('keys of ID tokens: the one that signs, a replaced one, and one that this vault cannot open', async () => {
  const t = await start({ ...chain.vars, ...OPENID_VARS }, clientsFile());
  const states = async (vault = t) => (await ask(vault)).signing_keys.map(({ state }: { state: string }) => state);
  await t.call('GET /jwks');
  const [key] = (await ask(t)).signing_keys;
  expect(key).toEqual({
    kid: (await t.call('GET /jwks')).body.keys[0].kid,
    state: 'signing',
    signs_from: '2025-01-01T00:00:00.000Z',
    ends_at: null,
  });
  await t.clock.advance(90 * 86_400_000);
  await t.work();
  await t.clock.advance(1_000);
  expect(await states()).toEqual(['next', 'signing']);
  await t.clock.advance(86_400_000);
  expect(await states()).toEqual(['signing', 'former']);
  await replaceSigningKey(t);
  await t.clock.advance(1_000);
  expect(await states()).toEqual(['signing']);
  const vars = { ...chain.vars, ...OPENID_VARS, VAULT_SECRET: VAULT_SECRET.replace('01', '10') };
  const other = await start(vars, { ...clientsFile(), database: t.database, clock: t.clock });
  expect(await states(other)).toEqual(['sealed']);
});

test('without CLIENTS there is no provider', async () => {
  const t = await start({});
  expect(await ask(t)).toMatchObject({ enabled: false, apps: [], signing_keys: [] });
});
