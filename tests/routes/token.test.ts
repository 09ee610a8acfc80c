import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { Hex } from 'ox';
import type { Candidate } from '../support/candidates.ts';
import { startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import {
  type AppRequest,
  answer,
  basic,
  bearer,
  clientsFile,
  codeFor,
  exchange,
  FORM,
  OPENID_VARS,
  parametersOf,
  partsOf,
  requestOf,
  SECRETS,
  tokensFor,
} from '../support/openid.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let t: TestVault;
let alice: Candidate;
beforeAll(async () => {
  t = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
  alice = await registerNewcomer(chain, t);
});
afterAll(() => t.stop());

const issuer = () => t.url.replace('127.0.0.1', 'localhost');

describe('a sign-in from the link to the claims', () => {
  test('the ID token: signed by a key of /jwks, for this client, with the claims of the scopes', async () => {
    const request = requestOf('tea', { scope: 'openid email phone profile did offline_access' });
    const { body, headers } = await exchange(t, request, await codeFor(t, alice, request));
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid email phone profile did',
      id_token: expect.any(String),
    });
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    const [header, claims] = partsOf(body.id_token);
    const { keys } = (await t.call('GET /jwks')).body;
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: keys[0].kid });
    const [head, payload, signature = ''] = body.id_token.split('.');
    const key = createPublicKey({ key: keys[0], format: 'jwk' });
    expect(verify('sha256', Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
    const now = Math.floor(t.clock.now() / 1000);
    expect(claims).toEqual({
      iss: issuer(),
      sub: expect.stringMatching(/^[\w-]{43}$/),
      aud: 'tea',
      iat: now,
      exp: now + 3600,
      auth_time: now,
      nonce: 'no"nce',
      acr: 'phr',
      amr: ['hwk', 'user', 'mfa'],
      at_hash: createHash('sha256').update(body.access_token).digest().subarray(0, 16).toString('base64url'),
      email: alice.body['identifier'],
      email_verified: true,
      email_verified_at: expect.any(Number),
      did: alice.did,
      account: alice.smartAccount,
      status: 'confirmed',
      final: true,
      proofs: { identifier: 'attestation', controller: 'passkey', did: 'address' },
    });
    const userinfo = await t.call('GET /userinfo', {}, bearer(body.access_token));
    const { sub, email, email_verified, email_verified_at, did, account, status, final, proofs } = claims ?? {};
    const expected = { sub, email, email_verified, email_verified_at, did, account, status, final, proofs };
    expect([userinfo.status, userinfo.body]).toEqual([200, expected]);
    const posted = await t.post('/userinfo', '', bearer(body.access_token));
    expect([posted.status, posted.body]).toEqual([200, expected]);
  });

  test('sub is another one for each sector, the same each time, and not the DID', async () => {
    const [tea, again, wiki] = [
      await tokensFor(t, alice),
      await tokensFor(t, alice),
      await tokensFor(t, alice, requestOf('wiki', { scope: 'openid' })),
    ].map(({ claims }) => claims);
    expect(tea?.['sub']).toBe(again?.['sub']);
    expect(tea?.['sub']).not.toBe(wiki?.['sub']);
    expect(Object.keys(wiki ?? {})).toEqual([
      'iss',
      'sub',
      'aud',
      'iat',
      'exp',
      'auth_time',
      'nonce',
      'acr',
      'amr',
      'at_hash',
    ]);
  });

  test.each<[string, () => AppRequest, Record<string, string | undefined>, () => Record<string, string>]>([
    ['client_secret_basic', () => requestOf(), {}, () => basic('tea', SECRETS.tea)],
    ['client_secret_basic beside client_id', () => requestOf(), { client_id: 'tea' }, () => basic('tea', SECRETS.tea)],
    ['client_secret_post', () => requestOf(), { client_id: 'tea', client_secret: SECRETS.tea }, () => ({})],
    ['none', () => requestOf('page'), {}, () => ({})],
    [
      'a secret without PKCE, state and nonce, where PKCE is optional',
      () =>
        requestOf('wiki', {
          code_challenge: undefined,
          code_challenge_method: undefined,
          state: undefined,
          nonce: undefined,
        }),
      {},
      () => basic('wiki', SECRETS.wiki),
    ],
    ['a secret with PKCE, where it is optional', () => requestOf('wiki'), {}, () => basic('wiki', SECRETS.wiki)],
  ])('%s', async (_, make, change, headers) => {
    const request = make();
    const { status, body } = await exchange(t, request, await codeFor(t, alice, request), change, headers());
    expect([status, body.error, body.token_type]).toEqual([200, undefined, 'Bearer']);
  });

  test('an address that the person does not give is absent', async () => {
    const without = await tokensFor(t, alice, requestOf(), { identifiers: { email: null } });
    expect(without.claims).not.toHaveProperty('email');
    const picked = await tokensFor(t, alice, requestOf(), { identifiers: { email: alice.body['identifier'] } });
    expect(picked.claims).toHaveProperty('email', alice.body['identifier']);
  });

  test('there is a choice before the code where several addresses, none, or none of hers would do', async () => {
    const asked = (scope: string, identifiers: unknown) =>
      answer(t, alice, requestOf('tea', { scope }), { identifiers }).then(({ status, body }) => [status, body]);
    const own = { identifier: alice.body['identifier'], channel: 'email', moves_at: null };
    const key = { pubKeyX: Hex.fromBytes(alice.passkey.key.x), pubKeyY: Hex.fromBytes(alice.passkey.key.y) };
    const owner = { did: alice.did, smartAccount: alice.smartAccount, ...key };
    expect(await asked('openid email phone', undefined)).toEqual([
      200,
      { channels: ['email', 'sms'], addresses: [own], ...owner },
    ]);
    expect(await asked('openid email', { email: 'bob@example.com' })).toEqual([
      200,
      { channels: ['email'], addresses: [own], ...owner },
    ]);
    const location = [200, { location: expect.stringContaining('code=') }];
    expect(await asked('openid email', undefined)).toEqual(location);
    expect(await asked('openid email phone', { sms: null })).toEqual(location);
    expect(await asked('openid did', undefined)).toEqual(location);
  });

  test('amr: a key that is synced is swk', async () => {
    const synced = await tokensFor(t, alice, requestOf(), { ceremony: { flags: 0x1d } });
    expect(synced.claims['amr']).toEqual(['swk', 'user', 'mfa']);
  });
});

describe('§5 token', () => {
  const code = 'x'.repeat(43);
  const ask = (change: Record<string, string | undefined> = {}, headers?: Record<string, string>) =>
    exchange(t, requestOf(), code, change, headers);

  test.each<[string, () => ReturnType<typeof ask>, string]>([
    ['no form', () => t.post('/token', '{}', { 'Content-Type': 'application/json' }), 'Send a form'],
    ['grant_type missing', () => ask({ grant_type: undefined }), 'grant_type is missing'],
    ['code missing', () => ask({ code: undefined }), 'code is missing'],
    ['code empty', () => ask({ code: '' }), 'code is missing'],
    ['redirect_uri missing', () => ask({ redirect_uri: undefined }), 'redirect_uri is missing'],
    [
      'a field twice',
      () => t.post('/token', 'code=a&code=a', { ...FORM, ...basic('tea', SECRETS.tea) }),
      'there twice',
    ],
    ['two authentications', () => ask({ client_secret: SECRETS.tea }), 'authenticates twice'],
    ['two client ids', () => ask({ client_id: 'wiki' }), 'name two clients'],
  ])('400 invalid_request: %s', async (_, make, words) => {
    const { status, body } = await make();
    expect([status, body.error, body.error_description]).toEqual([
      400,
      'invalid_request',
      expect.stringContaining(words),
    ]);
    expect(body).not.toHaveProperty('hint');
  });

  test.each<[string, () => ReturnType<typeof ask>]>([
    ['unknown client', () => ask({}, basic('shop', SECRETS.tea))],
    ['secret wrong', () => ask({}, basic('tea', SECRETS.wiki))],
    ['secret empty', () => ask({}, basic('tea', ''))],
    ['secret wrong, in the form', () => ask({ client_id: 'tea', client_secret: 'x' }, {})],
    ['secret missing', () => ask({ client_id: 'tea' }, {})],
    ['secret sent by a public client', () => ask({}, basic('page', 'x'))],
    ['no client at all', () => ask({}, {})],
    ['another scheme', () => ask({}, { Authorization: `Bearer ${SECRETS.tea}` })],
    [
      'the digest in place of the secret',
      () => ask({}, basic('tea', createHash('sha256').update(SECRETS.tea).digest('hex'))),
    ],
  ])('401 invalid_client: %s', async (_, make) => {
    const { status, body, headers } = await make();
    expect([status, body]).toEqual([
      401,
      {
        error: 'invalid_client',
        error_description: 'The client is unknown, or its secret is missing, wrong, or one too many.',
      },
    ]);
    expect(headers.get('www-authenticate')).toBe(`Basic realm="${issuer()}"`);
  });

  test('client.refused: a wrong secret is an event, once per client and minute, with the network', async () => {
    const own = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
    const wrong = (client: 'tea' | 'wiki', ip: string) =>
      exchange(own.from(ip), requestOf(client), code, {}, basic(client, 'wrong'));
    for (const ip of ['203.0.113.7', '203.0.113.7', '198.51.100.7']) await wrong('tea', ip);
    // Neither is a guess at a secret.
    await exchange(own, requestOf(), code, {}, basic('shop', 'wrong'));
    await exchange(own, requestOf(), code, { client_id: 'tea' }, {});
    const events = async () => {
      await own.idle();
      return own.rows(`SELECT app, data FROM events WHERE type = 'client.refused' ORDER BY id`);
    };
    expect(await events()).toEqual([{ app: 'tea', data: '{"network":"203.0.113.***"}' }]);
    await own.clock.advance(60_000);
    await wrong('tea', '203.0.113.7');
    await wrong('wiki', '203.0.113.7');
    const found = await events();
    await own.stop();
    expect(found.map(({ app }) => app)).toEqual(['tea', 'tea', 'wiki']);
  });

  test('token_refused: the log says what the answer does not, once per client and reason, and no secret', async () => {
    const own = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
    await exchange(own, requestOf(), 'x', {}, basic('tea', 'wrong'));
    await exchange(own, requestOf(), 'x');
    await exchange(own, requestOf(), 'y');
    await own.clock.advance(60_000);
    await exchange(own, requestOf(), 'x', { client_id: 'tea' }, {});
    await exchange(own, requestOf(), 'x', {}, basic('shop', 'wrong'));
    const lines = own.entries.filter(({ event }) => event === 'token_refused');
    await own.stop();
    const [reason, client] = ['invalid_client', 'tea'];
    expect(lines.map(({ level, reason, client, message }) => ({ level, reason, client, message }))).toEqual([
      { level: 'warn', reason, client, message: 'the secret is none of those that CLIENTS has the digests of' },
      {
        level: 'warn',
        reason: 'code',
        client,
        message: 'The vault knows no such code: send the person to sign in again.',
      },
      { level: 'warn', reason, client, message: 'the client shows no secret where a secret is due' },
      {
        level: 'warn',
        reason,
        client: null,
        message: 'client_id is no app of CLIENTS, and no document that is in order',
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain('wrong');
  });

  test('400 unsupported_grant_type', async () => {
    const { status, body } = await ask({ grant_type: 'refresh_token' });
    expect([status, body.error]).toEqual([400, 'unsupported_grant_type']);
  });

  test('400 invalid_grant: code, client, redirect_uri, verifier, and none of them uses the code up', async () => {
    const request = requestOf();
    const given = await codeFor(t, alice, request);
    const wiki = { ...request, client: 'wiki' } as const;
    const tries: [string, ReturnType<typeof ask>][] = [
      ['code', exchange(t, request, code)],
      ['client', exchange(t, wiki, given)],
      ['redirect_uri', exchange(t, request, given, { redirect_uri: 'https://tea.example/' })],
      ['redirect_uri', exchange(t, request, given, { redirect_uri: 'https://evil.example/' })],
      ['verifier', exchange(t, request, given, { code_verifier: 'y'.repeat(43) })],
      ['verifier', exchange(t, request, given, { code_verifier: undefined })],
    ];
    for (const [reason, made] of tries) {
      const { status, body } = await made;
      expect([status, body.error, body.reason]).toEqual([400, 'invalid_grant', reason]);
      expect(body.error_description).toMatch(/\.$/);
    }
    expect((await exchange(t, request, given)).status).toBe(200);
  });

  test('400 invalid_grant verifier: one that no challenge was for (a challenge was taken out)', async () => {
    const request = requestOf('wiki', { code_challenge: undefined, code_challenge_method: undefined });
    const given = await codeFor(t, alice, request);
    const { body } = await exchange(t, request, given, { code_verifier: 'y'.repeat(43) });
    expect([body.error, body.reason]).toEqual(['invalid_grant', 'verifier']);
    expect((await exchange(t, request, given)).status).toBe(200);
  });

  test('vault_authorization_codes_total: each app of CLIENTS from the start, and nobody else', async () => {
    const own = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
    const series = async () => {
      const lines = (await own.call('GET /metrics')).text.split('\n');
      return lines.filter((line) => line.startsWith('vault_authorization_codes_total{')).map((line) => line.slice(31));
    };
    const first = await series();
    expect(first).toHaveLength(9);
    for (const client of ['tea', 'wiki', 'page']) expect(first).toContain(`{client="${client}",outcome="issued"} 0`);
    const request = requestOf();
    const given = await codeFor(own, await registerNewcomer(chain, own), request);
    await exchange(own, request, given, { code_verifier: 'y'.repeat(43) });
    await exchange(own, request, given);
    await exchange(own, request, code, {}, basic('made-up', 'x'));
    const grown = (await series()).filter((line) => !first.includes(line));
    await own.stop();
    expect(grown.toSorted()).toEqual(
      ['exchanged', 'issued', 'refused'].map((outcome) => `{client="tea",outcome="${outcome}"} 1`),
    );
  });

  test('400 invalid_grant used: of many at once one is answered, and its access token is over', async () => {
    const request = requestOf();
    const given = await codeFor(t, alice, request);
    const replies = await Promise.all(Array.from({ length: 8 }, () => exchange(t, request, given)));
    const answered = replies.filter(({ status }) => status === 200);
    expect(answered).toHaveLength(1);
    expect(replies.filter(({ body }) => body.reason === 'used')).toHaveLength(7);
    const { status, body, headers } = await t.call('GET /userinfo', {}, bearer(answered[0]?.body.access_token));
    expect([status, body.error]).toEqual([401, 'invalid_token']);
    expect(headers.get('www-authenticate')).toBe(`Bearer realm="${issuer()}", error="invalid_token"`);
  });

  test('400 invalid_grant expired: after 60 seconds, to the second', async () => {
    const [early, late] = [requestOf(), requestOf()];
    const codes = [await codeFor(t, alice, early), await codeFor(t, alice, late)];
    await t.clock.advance(59_000);
    expect((await exchange(t, late, codes[1] ?? '')).status).toBe(200);
    await t.clock.advance(1_000);
    const { body } = await exchange(t, early, codes[0] ?? '');
    expect([body.error, body.reason]).toEqual(['invalid_grant', 'expired']);
  });

  test('400 invalid_grant expired: a code that was exchanged and comes again ends its access token, however late', async () => {
    const request = requestOf();
    const code = await codeFor(t, alice, request);
    const { body } = await exchange(t, request, code);
    await t.clock.advance(61_000);
    expect((await t.call('GET /userinfo', {}, bearer(body.access_token))).status).toBe(200);
    // Of a thief who knows the code alone it ends nothing.
    const guessed = await exchange(t, request, code, { code_verifier: 'x'.repeat(43) });
    expect(guessed.body.reason).toBe('verifier');
    expect((await t.call('GET /userinfo', {}, bearer(body.access_token))).status).toBe(200);
    expect((await exchange(t, request, code)).body.reason).toBe('expired');
    expect((await t.call('GET /userinfo', {}, bearer(body.access_token))).status).toBe(401);
  });
});

describe('§7 userinfo', () => {
  test('401 invalid_token: none, an unknown one, one in the query, and one that has ended', async () => {
    const { access_token } = await tokensFor(t, alice);
    const bare = await t.call('GET /userinfo');
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([401, `Bearer realm="${issuer()}"`]);
    expect((await t.call('GET /userinfo', { access_token })).status).toBe(401);
    expect((await t.call('GET /userinfo', {}, bearer('x'.repeat(43)))).status).toBe(401);
    expect((await t.call('GET /userinfo', {}, bearer(access_token))).status).toBe(200);
    await t.clock.advance(3_600_000);
    expect((await t.call('GET /userinfo', {}, bearer(access_token))).status).toBe(401);
  });
});

describe('§4 authorize/code', () => {
  test('access_denied: the person cancels', async () => {
    const { query } = requestOf();
    const reply = await t.call('POST /authorize/code', { request: query, cancelled: true });
    expect(parametersOf(reply)).toEqual({
      error: 'access_denied',
      error_description: 'the person cancelled',
      state: 'st/ate',
      iss: issuer(),
    });
  });

  test('login_required: somebody else than id_token_hint names; the person themself gets a code', async () => {
    const { id_token } = await tokensFor(t, alice);
    const bob = await registerNewcomer(chain, t);
    const request = requestOf('tea', { id_token_hint: id_token });
    expect(parametersOf(await answer(t, bob, request))).toMatchObject({ error: 'login_required', state: 'st/ate' });
    expect(parametersOf(await answer(t, alice, request))).toHaveProperty('code');
  });

  test('a request that is not in order makes no code', async () => {
    const request = requestOf('tea', { scope: 'email' });
    const { status, body } = await answer(t, alice, request);
    expect([status, body.error]).toEqual([400, 'Invalid request: scope must contain openid']);
  });
});
