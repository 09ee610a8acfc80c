import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createPublicKey, verify } from 'node:crypto';
import { startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import {
  answer,
  basic,
  bearer,
  CLIENTS,
  clientsFile,
  exchange,
  FORM,
  OPENID_VARS,
  parametersOf,
  partsOf,
  requestOf,
  SECRETS,
} from '../support/openid.ts';
import { createPeople, type Person } from '../support/people.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// What the OpenID Foundation's plans "Config OP" and "Basic OP" demand of a provider (static client, `code`,
// client_secret_basic), by the names of the suite's modules; some of "Dynamic OP" that need no registration. It is no
// replacement for the suite, which no vault was run against. The suite sends no PKCE but in one module.

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let t: TestVault;
let person: Person;
let config: Record<string, never>;
beforeAll(async () => {
  t = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
  const people = createPeople(chain, () => t);
  person = await people.own('handle');
  const { txHash } = await people.publish(person);
  const email = { ...person, channel: 'email', identifier: 'ada@example.com' } as const;
  const number = { ...person, channel: 'sms', identifier: '+14155550199' } as const;
  for (const one of [person, email, number])
    expect((await people.claim(one, txHash, { proof: true })).status).toBe(200);
  await t.work();
  config = (await t.call('GET /.well-known/openid-configuration')).body;
});
afterAll(() => t.stop());

type Change = Readonly<Record<string, string | undefined>>;
const link = (change: Change = {}) =>
  requestOf('wiki', { scope: 'openid', code_challenge: undefined, code_challenge_method: undefined, ...change });

/** Opens a link; what the app gets back once the page was answered, or the page. */
async function authorize(change: Change = {}, query = link(change).query): Promise<Readonly<Record<string, string>>> {
  const page = await t.call(`GET /authorize?${query}`);
  if (page.status === 400) return { page: '400' };
  // A nonce is of its moment, and the passkey of tests signs the same text in the same way.
  await t.clock.advance(1_000);
  return parametersOf(page.status === 303 ? page : await answer(t, person, { query }));
}
const exchanged = (code = '', change: Change = {}, headers: Record<string, string> = basic('wiki', SECRETS.wiki)) =>
  exchange(t, link(), code, { code_verifier: undefined, ...change }, headers);

/** A whole sign-in: what came back, the tokens, their claims and those of `/userinfo`, judged as the suite does. */
async function whole(change: Change = {}) {
  const { code, state, iss } = await authorize(change);
  expect([state, iss]).toEqual(['st/ate', originOf(t)]);
  const { status, body, headers } = await exchanged(code);
  expect([status, body.error_description, headers.get('cache-control')]).toEqual([200, undefined, 'no-store']);
  const [head = '', payload = '', signature = ''] = body.id_token.split('.');
  const [{ alg, kid } = {}, claims = {}] = partsOf(body.id_token);
  const { keys } = (await t.call('GET /jwks')).body;
  const jwk = keys.find((key: { kid: string }) => key.kid === kid);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  expect(alg).toBe('RS256');
  expect(verify('sha256', Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
  const now = t.clock.now() / 1000;
  expect([claims['iss'], claims['aud']]).toEqual([originOf(t), 'wiki']);
  expect(String(claims['sub'])).toMatch(/^.{1,255}$/);
  expect(claims['nonce']).toBe('nonce' in change ? change['nonce'] : 'no"nce');
  expect(Number(claims['exp'])).toBeGreaterThan(now);
  expect(Number(claims['iat'])).toBeLessThanOrEqual(now);
  const userinfo = await t.call('GET /userinfo', {}, bearer(body.access_token));
  expect([userinfo.status, userinfo.body.sub]).toEqual([200, claims['sub']]);
  return { code, token: body.access_token, body, claims, userinfo: userinfo.body };
}

/** Two sign-ins of the same person, the second some seconds later: it asks again, and says so. */
async function asksAgain(change: Change) {
  const before = await whole();
  await t.clock.advance(2_000);
  const { claims } = await whole(change);
  expect(claims['sub']).toBe(before.claims['sub'] as string);
  expect(Number(claims['auth_time'])).toBeGreaterThan(Number(before.claims['auth_time']));
}

const UNSIGNED_REQUEST = 'eyJhbGciOiJub25lIn0.e30.';
const kidsOf = async () => (await t.call('GET /jwks')).body.keys.map(({ kid }: { kid: string }) => kid);

const CONFIG_OP: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'oidcc-discovery-endpoint-verification'() {
    const { status, headers, body } = await t.call('GET /.well-known/openid-configuration');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(body).toMatchObject({
      issuer: originOf(t),
      id_token_signing_alg_values_supported: expect.arrayContaining(['RS256']),
      subject_types_supported: ['pairwise'],
      response_types_supported: ['code'],
      scopes_supported: expect.arrayContaining(['openid']),
      claims_supported: expect.arrayContaining(['sub', 'email']),
      request_uri_parameter_supported: false,
    });
    const { keys } = (await t.call('GET /jwks')).body;
    for (const key of keys) expect(Object.keys(key).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  },
};

const BASIC_OP: Readonly<Record<string, () => Promise<unknown>>> = {
  'oidcc-server': () => whole(),
  async 'oidcc-response-type-missing'() {
    expect(await authorize({ response_type: undefined })).toMatchObject({ error: 'invalid_request', state: 'st/ate' });
  },
  'oidcc-userinfo-get': () => whole(),
  async 'oidcc-userinfo-post-header'() {
    const { token, claims } = await whole();
    const { status, body } = await t.post('/userinfo', '', bearer(token));
    expect([status, body.sub]).toEqual([200, claims['sub']]);
  },
  async 'oidcc-userinfo-post-body: refused, a warning'() {
    const { token } = await whole();
    const { status, headers } = await t.post('/userinfo', `access_token=${token}`, FORM);
    expect([status, headers.get('www-authenticate')]).toEqual([401, `Bearer realm="${originOf(t)}"`]);
  },
  async 'oidcc-ensure-request-without-nonce-succeeds-for-code-flow'() {
    expect((await whole({ nonce: undefined })).claims).not.toHaveProperty('nonce');
  },
  async 'oidcc-scope-profile: no name, a warning'() {
    const { userinfo } = await whole({ scope: 'openid profile' });
    expect(userinfo).toEqual({ sub: expect.any(String), preferred_username: person.identifier });
  },
  async 'oidcc-scope-email: in the ID token too, a warning'() {
    const { userinfo, claims } = await whole({ scope: 'openid email' });
    expect(userinfo).toMatchObject({ email: 'ada@example.com', email_verified: true });
    expect(userinfo).not.toHaveProperty('name');
    expect(claims).toHaveProperty('email', 'ada@example.com');
  },
  async 'oidcc-scope-address: skipped, it is not in scopes_supported'() {
    expect(config['scopes_supported']).not.toContain('address' as never);
    expect((await whole({ scope: 'openid address' })).body.scope).toBe('openid');
  },
  async 'oidcc-scope-phone'() {
    const { userinfo } = await whole({ scope: 'openid phone' });
    expect(userinfo).toMatchObject({ phone_number: '+14155550199', phone_number_verified: true });
  },
  async 'oidcc-scope-all: no name, a warning'() {
    const { body } = await whole({ scope: 'openid address email phone profile' });
    expect(body.scope).toBe('openid email phone profile');
  },
  async 'oidcc-alternate-happy-flow: the order of parameters and scopes is nothing'() {
    const turned = [...new URLSearchParams(link({ scope: 'email openid' }).query)].reverse();
    expect(await authorize({}, String(new URLSearchParams(turned)))).toHaveProperty('code');
  },
  'oidcc-display-page': () => whole({ display: 'page' }),
  'oidcc-display-popup': () => whole({ display: 'popup' }),
  'oidcc-prompt-login': () => asksAgain({ prompt: 'login' }),
  async 'oidcc-prompt-none-not-logged-in'() {
    const state = 'x'.repeat(128);
    expect(await authorize({ prompt: 'none', state })).toMatchObject({ error: 'login_required', state });
  },
  'oidcc-max-age-1': () => asksAgain({ max_age: '1' }),
  'oidcc-ensure-request-with-unknown-parameter-succeeds': () => whole({ extra: 'foobar' }),
  'oidcc-login-hint': () => whole({ login_hint: 'buffy@localhost' }),
  'oidcc-ui-locales': () => whole({ ui_locales: 'se' }),
  'oidcc-claims-locales': () => whole({ claims_locales: 'se' }),
  async 'oidcc-ensure-request-with-acr-values-succeeds'() {
    const values = config['acr_values_supported'] as unknown as string[];
    expect(values).toContain(String((await whole({ acr_values: values.join(' ') })).claims['acr']));
  },
  async 'oidcc-codereuse'() {
    const { status, body } = await exchanged((await whole()).code);
    expect([status, body.error, body.reason]).toEqual([400, 'invalid_grant', 'used']);
  },
  async 'oidcc-codereuse-30seconds'() {
    const { code, token } = await whole();
    await t.clock.advance(30_000);
    const { status, body } = await exchanged(code);
    expect([status, body.error, body.reason]).toEqual([400, 'invalid_grant', 'used']);
    expect((await t.call('GET /userinfo', {}, bearer(token))).status).toBe(401);
  },
  async 'oidcc-ensure-registered-redirect-uri'() {
    expect(await authorize({ redirect_uri: `${CLIENTS.wiki.redirect_uris[0]}/abc` })).toEqual({ page: '400' });
  },
  async 'oidcc-ensure-post-request-succeeds'() {
    const { status, headers } = await t.post('/authorize', link().query, FORM);
    expect(status).toBe(303);
    expect(await authorize({}, String(headers.get('location')).split('?')[1])).toHaveProperty('code');
  },
  async 'oidcc-server-client-secret-post'() {
    const { code } = (await authorize()) as { code: string };
    const { status } = await exchanged(code, { client_id: 'wiki', client_secret: SECRETS.wiki }, {});
    expect(status).toBe(200);
  },
  async 'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported'() {
    const back = await authorize({ request: UNSIGNED_REQUEST, state: undefined });
    expect(back).toEqual({
      error: 'request_not_supported',
      error_description: 'request is not supported',
      from: 'vault',
      iss: originOf(t),
    });
  },
  async 'oidcc-ensure-request-object-with-redirect-uri'() {
    const redirect_uri = 'https://wiki.example/other';
    expect(await authorize({ request: UNSIGNED_REQUEST, redirect_uri })).toEqual({ page: '400' });
  },
  'oidcc-claims-essential: no name, a warning': () => whole({ claims: '{"userinfo":{"name":{"essential":true}}}' }),
  async 'oidcc-refresh-token: skipped, none is issued'() {
    const { body } = await whole({ scope: 'openid offline_access', prompt: 'consent' });
    expect(body).not.toHaveProperty('refresh_token');
    expect(config['grant_types_supported']).toEqual(['authorization_code'] as never);
  },
  async 'oidcc-ensure-request-with-valid-pkce-succeeds'() {
    const request = requestOf('wiki');
    const { code } = (await authorize({}, request.query)) as { code: string };
    expect((await exchange(t, request, code)).status).toBe(200);
  },
};

const DYNAMIC_OP: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'oidcc-server-rotate-keys'() {
    const before = await kidsOf();
    await t.clock.advance(90 * 86_400_000);
    await t.work();
    await t.clock.advance(1_000);
    const after = await kidsOf();
    expect(after).toEqual(expect.arrayContaining(before));
    expect(after.length).toBe(before.length + 1);
  },
  async 'oidcc-redirect-uri-query-OK'() {
    const [redirect_uri] = CLIENTS.wiki.redirect_uris;
    expect(await authorize({ redirect_uri })).toMatchObject({ from: 'vault', code: expect.any(String) });
  },
  async 'oidcc-redirect-uri-query-mismatch'() {
    expect(await authorize({ redirect_uri: 'https://wiki.example/oauth?from=elsewhere' })).toEqual({ page: '400' });
  },
  async 'oidcc-redirect-uri-query-added'() {
    expect(await authorize({ redirect_uri: `${CLIENTS.wiki.redirect_uris[0]}&foo=bar` })).toEqual({ page: '400' });
  },
  async 'oidcc-ensure-redirect-uri-in-authorization-request'() {
    expect(await authorize({ redirect_uri: undefined })).toEqual({ page: '400' });
  },
};

/** They expect a code without asking the person, which needs a kept sign-in: docs/openid.md names them. */
const NEED_A_KEPT_SIGN_IN: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'oidcc-prompt-none-logged-in'() {
    await whole();
    expect(await authorize({ prompt: 'none' })).toMatchObject({ error: 'login_required' });
  },
  async 'oidcc-id-token-hint'() {
    const { body } = await whole();
    const again = await authorize({ prompt: 'none', id_token_hint: body.id_token });
    expect(again).toMatchObject({ error: 'login_required' });
  },
  'oidcc-max-age-10000': () => asksAgain({ max_age: '10000' }),
};

describe.each([
  ['Config OP', CONFIG_OP],
  ['Basic OP', BASIC_OP],
  ['Dynamic OP', DYNAMIC_OP],
  ['Basic OP, where it is not met', NEED_A_KEPT_SIGN_IN],
])('%s', (_, modules) => {
  test.each(Object.entries(modules))('%s', async (...[, judge]) => {
    await judge();
  });
});
