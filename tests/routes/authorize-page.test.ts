import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import {
  answer,
  CLIENTS,
  clientsFile,
  exchange,
  FORM,
  OPENID_VARS,
  parametersOf,
  requestOf,
  tokensFor,
} from '../support/openid.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let t: TestVault;
beforeAll(async () => {
  t = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
});
afterAll(() => t.stop());

const issuer = () => t.url.replace('127.0.0.1', 'localhost');
const open = (change: Record<string, string | undefined> = {}) =>
  t.call(`GET /authorize?${requestOf('tea', change).query}`);

describe('GET /authorize', () => {
  test('200: the page, for nobody’s frame, and a popup keeps its opener', async () => {
    const { status, headers, text } = await open();
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(text).not.toContain('vault-fault');
  });

  test('303: an error with its description, the state and the issuer', async () => {
    const reply = await open({ scope: 'email' });
    expect(reply.status).toBe(303);
    expect(parametersOf(reply)).toEqual({
      error: 'invalid_scope',
      error_description: 'scope must contain openid',
      state: 'st/ate',
      iss: issuer(),
    });
    expect(reply.headers.get('location')).toStartWith('https://tea.example/back?error=');
  });

  test('303 invalid_request: an id_token_hint that is forged, unsigned, another app’s or no token', async () => {
    const alice = await registerNewcomer(chain, t);
    const { id_token } = await tokensFor(t, alice);
    const [head = '', body = '', signature = ''] = id_token.split('.');
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString());
    const hs256 = Buffer.from(JSON.stringify({ alg: 'HS256', kid })).toString('base64url');
    const wrong = [
      `${head}.${body}.${signature.slice(0, -4)}AAAA`,
      `${unsigned}.${body}.`,
      `${hs256}.${body}.${signature}`,
      (await tokensFor(t, alice, requestOf('wiki'))).id_token,
      'x',
      `${id_token}.x`,
    ];
    for (const id_token_hint of wrong) {
      const found = parametersOf(await open({ id_token_hint }));
      expect(found).toMatchObject({
        error: 'invalid_request',
        error_description: 'id_token_hint is no ID token of this client',
      });
    }
    await t.clock.advance(7_200_000);
    expect((await open({ id_token_hint: id_token })).status).toBe(200);
  });

  test('400: a wrong redirect URI leads nowhere; on loopback the page says which there are', async () => {
    const { status, headers, text } = await open({ redirect_uri: 'https://tea.example/back/', state: undefined });
    expect([status, headers.get('location')]).toEqual([400, null]);
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(text).toContain('<meta name="vault-fault" content="redirect_uri of this link is not one that CLIENTS has');
    expect(text).toContain(`CLIENTS has: ${CLIENTS.tea.redirect_uris[0]}`);
    await open({ redirect_uri: 'https://evil.example/' });
    const lines = t.entries.filter(
      ({ event, reason }) => event === 'authorize_refused' && reason === 'redirect_uri_unknown',
    );
    expect(lines).toMatchObject([{ level: 'warn', client: 'tea' }]);
    const metrics = (await t.call('GET /metrics')).text;
    expect(metrics).toContain('vault_authorize_refused_total{reason="redirect_uri_unknown"} 2');
    const unknown = await open({ client_id: 'Tea' });
    expect(unknown.text).toContain(`is not an app of CLIENTS. CLIENTS has: ${Object.keys(CLIENTS).join(' ')}`);
  });

  test('400: on a public origin the URIs of the app are for nobody', async () => {
    const vars = { ...chain.vars, ...OPENID_VARS, BASE_URL: 'https://vault.example', TRUSTED_PROXIES: 'none' };
    const public_ = await startVault({ ...vars, EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' }, clientsFile());
    const { query } = requestOf('tea', { redirect_uri: 'https://evil.example/"><script>' });
    const { status, text } = await public_.call(`GET /authorize?${query}`, {}, { Host: 'vault.example' });
    await public_.stop();
    expect(status).toBe(400);
    expect(text).toContain('vault-fault');
    expect(text).not.toContain('tea.example');
    expect(text).not.toContain('evil.example');
  });

  test('404 not_found: all of it without CLIENTS', async () => {
    const off = await startVault();
    const paths = ['GET /authorize', 'GET /jwks', 'GET /userinfo', 'GET /.well-known/openid-configuration'];
    const replies = [
      ...(await Promise.all(paths.map((line) => off.call(line)))),
      await off.post('/token', '', FORM),
      await off.post('/authorize', '', FORM),
      await off.post('/userinfo', ''),
      await off.call('GET /authorize/config'),
      await off.call('POST /authorize/code', { request: requestOf().query, cancelled: true }),
    ];
    await off.stop();
    expect(replies.map(({ status, body }) => [status, body.error])).toEqual(replies.map(() => [404, 'not_found']));
  });
});

test('404: the exchange of before is nowhere', async () => {
  const replies = [
    await t.call('GET /register'),
    await t.call('POST /api/register/authorize'),
    await t.call('POST /api/register/token'),
  ];
  expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
});

describe('POST /authorize', () => {
  test('303: to the same request as GET, without what belongs into no header', async () => {
    const { query } = requestOf();
    const reply = await t.post('/authorize', query, FORM);
    expect([reply.status, reply.headers.get('location')]).toEqual([303, `/authorize?${query}`]);
    const odd = await t.post('/authorize', `${query}&x=a\r\nb#c`, FORM);
    expect(odd.headers.get('location')).toBe(`/authorize?${query}&x=a%0D%0Ab%23c`);
    expect((await t.post('/authorize', `x=${'y'.repeat(9_000)}`, FORM)).status).toBe(400);
    expect((await t.post('/authorize', '{}', { 'Content-Type': 'application/json' })).status).toBe(415);
  });
});

describe('§4 authorize/code', () => {
  test('an attestation that is older than max_age does not count', async () => {
    const one = await registerNewcomer(chain, t);
    const { credentialId, attestation } = one.body;
    const ask = (max_age: string) =>
      t.call('POST /authorize/code', { request: requestOf('tea', { max_age }).query, credentialId, attestation });
    await t.clock.advance(10_000);
    expect((await ask('5')).body.error).toBe('attestation_expired');
    expect(parametersOf(await ask('3600'))).toHaveProperty('code');
  });
});

describe('the provider for pages and libraries', () => {
  test('discovery says what there is, under the issuer', async () => {
    const { status, body, headers } = await t.call('GET /.well-known/openid-configuration');
    expect([status, headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual([
      200,
      'public, max-age=3600',
      '*',
    ]);
    // All of it: what is not named is not there.
    expect(body).toEqual({
      issuer: issuer(),
      authorization_endpoint: `${issuer()}/authorize`,
      token_endpoint: `${issuer()}/token`,
      userinfo_endpoint: `${issuer()}/userinfo`,
      jwks_uri: `${issuer()}/jwks`,
      scopes_supported: ['openid', 'email', 'phone', 'profile', 'did'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code'],
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      code_challenge_methods_supported: ['S256'],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
      acr_values_supported: ['phr'],
      claims_supported: [
        ...['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'amr', 'at_hash'],
        ...['email', 'email_verified', 'email_verified_at'],
        ...['phone_number', 'phone_number_verified', 'phone_number_verified_at'],
        ...['preferred_username', 'did', 'account', 'status', 'final', 'proofs'],
      ],
      ui_locales_supported: ['en', 'de', 'fr', 'es'],
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${issuer()}/openapi.json`,
    });
  });

  test('/jwks has the public halves alone, each under its thumbprint (RFC 7638), for an hour', async () => {
    const { headers, body } = await t.call('GET /jwks');
    expect([headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual([
      'public, max-age=3600',
      '*',
    ]);
    const [{ n, kid, ...key }] = body.keys;
    expect([body.keys.length, key]).toEqual([1, { kty: 'RSA', e: 'AQAB', use: 'sig', alg: 'RS256' }]);
    // 2048 bits.
    expect(Buffer.from(n, 'base64url')).toHaveLength(256);
    const members = JSON.stringify({ e: 'AQAB', kty: 'RSA', n });
    expect(kid).toBe(createHash('sha256').update(members).digest('base64url'));
  });

  test('RFC 8414: clients of OAuth 2.0 alone find the same, less what is OpenID’s alone', async () => {
    const { status, body, headers } = await t.call('GET /.well-known/oauth-authorization-server');
    const { body: all } = await t.call('GET /.well-known/openid-configuration');
    expect([status, headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual([
      200,
      'public, max-age=3600',
      '*',
    ]);
    const shared = Object.fromEntries(Object.keys(body).map((name) => [name, all[name]]));
    expect(body).toEqual(shared);
    expect(Object.keys(all).filter((name) => !(name in body))).toEqual([
      'userinfo_endpoint',
      'subject_types_supported',
      'id_token_signing_alg_values_supported',
      'prompt_values_supported',
      'acr_values_supported',
      'claims_supported',
      'claims_parameter_supported',
      'request_parameter_supported',
      'request_uri_parameter_supported',
    ]);
    const off = await startVault({ ...chain.vars });
    const absent = await off.call('GET /.well-known/oauth-authorization-server');
    await off.stop();
    expect([absent.status, absent.body.error]).toEqual([404, 'not_found']);
  });

  test('403 origin_not_allowed: where ALLOWED_ORIGINS is set, /token takes it and the client’s own pages', async () => {
    const closed = await startVault(
      { ...chain.vars, ...OPENID_VARS, ALLOWED_ORIGINS: 'https://app.example' },
      clientsFile(),
    );
    const ask = (Origin?: string) => exchange(closed, requestOf('page'), 'x'.repeat(43), {}, Origin ? { Origin } : {});
    const origins = [undefined, 'https://app.example', 'http://localhost:4001', 'https://tea.example', 'null'];
    const replies = await Promise.all(origins.map(ask));
    await closed.stop();
    expect(replies.map(({ body }) => body.error)).toEqual([
      'invalid_grant',
      'invalid_grant',
      'invalid_grant',
      'origin_not_allowed',
      'origin_not_allowed',
    ]);
  });

  test('a person signs in with the page’s own request signed, and with no other', async () => {
    const alice = await registerNewcomer(chain, t);
    const { status, body } = await answer(t, alice, requestOf(), { nonce: 'x'.repeat(48) });
    expect([status, body.error]).toEqual([403, 'proof_invalid']);
  });
});
