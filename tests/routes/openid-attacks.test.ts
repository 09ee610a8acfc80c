import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Candidate, startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import {
  answer,
  basic,
  bearer,
  clientsFile,
  codeFor,
  exchange,
  FORM,
  OPENID_VARS,
  parametersOf,
  replaceSigningKey,
  requestOf,
  SECRETS,
  tokensFor,
} from '../support/openid.ts';
import { createPeople } from '../support/people.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// The attacks of the chapter on OpenID Connect, each refused for its own reason, and what was attacked goes on.

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let t: TestVault;
let alice: Candidate;
beforeAll(async () => {
  t = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
  alice = await registerNewcomer(chain, t);
});
afterAll(() => t.stop());

type Change = Record<string, string | undefined>;
const NO_PKCE = { code_challenge: undefined, code_challenge_method: undefined };
const open = (query: string) => t.call(`GET /authorize?${query}`);
const refusalOf = async (asked: ReturnType<typeof exchange>) => {
  const { status, body } = await asked;
  return [status, body.error, body.reason];
};

describe('mix-up of providers', () => {
  test('iss is in each answer, also of errors, and discovery says so', async () => {
    const { body } = await t.call('GET /.well-known/openid-configuration');
    expect([body.issuer, body.authorization_response_iss_parameter_supported]).toEqual([originOf(t), true]);
    const { query } = requestOf();
    const answers = [
      await answer(t, alice, { query }),
      await t.call('POST /authorize/code', { request: query, cancelled: true }),
      await open(requestOf('tea', { scope: 'none' }).query),
      await open(requestOf('tea', { prompt: 'none' }).query),
    ];
    expect(answers.map((one) => parametersOf(one)['iss'])).toEqual(answers.map(() => originOf(t)));
  });
});

describe('a stolen code', () => {
  test('injected into another sign-in of the app, taken to another app or URI: refused, and good for its owner', async () => {
    const request = requestOf();
    const code = await codeFor(t, alice, request);
    // The thief's own sign-in at the same app has another verifier, at their own app another client.
    expect(await refusalOf(exchange(t, requestOf(), code))).toEqual([400, 'invalid_grant', 'verifier']);
    const elsewhere = { ...request, client: 'wiki' } as const;
    expect(await refusalOf(exchange(t, elsewhere, code))).toEqual([400, 'invalid_grant', 'client']);
    const wrongUri = { redirect_uri: 'https://tea.example/other' };
    expect(await refusalOf(exchange(t, request, code, wrongUri))).toEqual([400, 'invalid_grant', 'redirect_uri']);
    const { body } = await exchange(t, request, code);
    expect((await t.call('GET /userinfo', {}, bearer(body.access_token))).status).toBe(200);
    // Nor does a guess after the exchange end the token: only who has all of it right does.
    expect(await refusalOf(exchange(t, requestOf(), code))).toEqual([400, 'invalid_grant', 'verifier']);
    expect((await t.call('GET /userinfo', {}, bearer(body.access_token))).status).toBe(200);
  });

  test('an access token is no code, and a code no access token', async () => {
    const { access_token } = await tokensFor(t, alice);
    expect(await refusalOf(exchange(t, requestOf(), access_token))).toEqual([400, 'invalid_grant', 'code']);
    const code = await codeFor(t, alice, requestOf());
    expect((await t.call('GET /userinfo', {}, bearer(code))).body.error).toBe('invalid_token');
  });
});

describe('PKCE downgrade', () => {
  test.each<[string, Change, string]>([
    ['the challenge taken out', NO_PKCE, 'code_challenge is missing: this client must use PKCE with S256'],
    ['plain', { code_challenge_method: 'plain' }, 'code_challenge_method must be S256'],
    ['no method, which means plain', { code_challenge_method: undefined }, 'code_challenge_method must be S256'],
  ])('%s: invalid_request', async (_, change, error_description) => {
    const found = parametersOf(await open(requestOf('tea', change).query));
    expect(found).toMatchObject({ error: 'invalid_request', error_description });
    const { status, body } = await answer(t, alice, requestOf('tea', change));
    expect([status, body.error]).toEqual([400, `Invalid request: ${error_description}`]);
  });

  test('the challenge taken out of the link of an app whose PKCE is optional: its verifier gives it away', async () => {
    const code = await codeFor(t, alice, requestOf('wiki', NO_PKCE));
    expect(await refusalOf(exchange(t, requestOf('wiki'), code))).toEqual([400, 'invalid_grant', 'verifier']);
  });

  test('a code with a challenge is exchanged by no one without the verifier', async () => {
    const request = requestOf('wiki');
    const code = await codeFor(t, alice, request);
    const bare = exchange(t, request, code, { code_verifier: undefined });
    expect(await refusalOf(bare)).toEqual([400, 'invalid_grant', 'verifier']);
  });
});

describe('open redirect', () => {
  const WRONG: Change[] = [{ scope: undefined }, { prompt: 'none' }, { response_type: 'token' }, { request: 'x' }, {}];
  test.each([
    'https://evil.example/',
    'https://tea.example/back/',
    'https://tea.example/back?x=1',
    'https://tea.example/back#x',
    'https://tea.example.evil.example/back',
    'https://tea.example@evil.example/back',
    'https://tea.example/back/../../x',
    'https://tea.example:443/back',
    'http://tea.example/back',
    '//evil.example/back',
    'javascript:alert(1)',
    'https://wiki.example/oauth?from=vault',
    'https://tea.example/back\r\nLocation: https://evil.example/',
    '',
  ])('%j leads nowhere, whatever else is wrong', async (redirect_uri) => {
    for (const change of WRONG) {
      const { query } = requestOf('tea', { ...change, redirect_uri });
      const { status, headers } = await open(query);
      expect([status, headers.get('location')]).toEqual([400, null]);
      const cancelled = await t.call('POST /authorize/code', { request: query, cancelled: true });
      expect([cancelled.status, cancelled.body.location]).toEqual([400, undefined]);
    }
  });
});

describe('parameters twice, line breaks', () => {
  test('a second redirect_uri or client_id leads nowhere, any other goes back as invalid_request', async () => {
    const { query } = requestOf();
    for (const more of ['&redirect_uri=https%3A%2F%2Fevil.example%2F', '&client_id=wiki'])
      expect((await open(query + more)).headers.get('location')).toBeNull();
    const found = parametersOf(await open(`${query}&scope=openid+did`));
    expect(found).toMatchObject({ error: 'invalid_request', error_description: 'the parameter scope is there twice' });
  });

  test('a line break in state makes no header', async () => {
    const { headers } = await open(requestOf('tea', { state: 'a\r\nSet-Cookie: x=y', scope: 'none' }).query);
    expect(headers.get('set-cookie')).toBeNull();
    expect(headers.get('location')).toContain('state=a%0D%0ASet-Cookie%3A+x%3Dy');
  });

  test('a second field at /token is refused, before anything of it counts', async () => {
    const code = await codeFor(t, alice, requestOf());
    const form = `grant_type=authorization_code&code=${code}&code=x`;
    const { status, body } = await t.post('/token', form, { ...FORM, ...basic('tea', SECRETS.tea) });
    expect([status, body.error, body.error_description]).toEqual([400, 'invalid_request', 'A field is there twice.']);
  });
});

describe('silent probing', () => {
  test('prompt=none is login_required for who has just signed in, with their id_token_hint too', async () => {
    const { id_token } = await tokensFor(t, alice);
    for (const more of [{}, { id_token_hint: id_token }])
      expect(parametersOf(await open(requestOf('tea', { prompt: 'none', ...more }).query))).toMatchObject({
        error: 'login_required',
        error_description: 'each sign-in asks the person: there is no session',
      });
  });

  test('no answer sets a cookie', async () => {
    const request = requestOf();
    const given = await answer(t, alice, request);
    const token = await exchange(t, request, String(parametersOf(given)['code']));
    for (const { headers } of [await open(request.query), given, token]) expect(headers.get('set-cookie')).toBeNull();
  });
});

describe('joining people across apps', () => {
  test('two apps have nothing of a person in common that they did not ask for', async () => {
    const [tea, wiki] = [
      await tokensFor(t, alice, requestOf('tea', { scope: 'openid' })),
      await tokensFor(t, alice, requestOf('wiki', { scope: 'openid' })),
    ].map(({ claims }) => claims);
    expect(tea?.['sub']).not.toBe(wiki?.['sub'] as string);
    const text = JSON.stringify([tea, wiki]);
    for (const known of [alice.did, alice.smartAccount, alice.credentialId, String(alice.body['identifier'])])
      expect(text.toLowerCase()).not.toContain(known.toLowerCase());
  });
});

describe('consent phishing', () => {
  test.each<[string, Change]>([
    ['more scopes', { scope: 'openid email did' }],
    ['another client and its URI', { client_id: 'wiki', redirect_uri: 'https://wiki.example/oauth?from=vault' }],
    ['another challenge', { code_challenge: 'x'.repeat(43) }],
    ['another state', { state: 'of the thief' }],
    ['another nonce', { nonce: 'of the thief' }],
  ])('a touch for one request is no touch for another: %s', async (_, change) => {
    const request = requestOf().query;
    const pairs = Object.entries({ ...Object.fromEntries(new URLSearchParams(request)), ...change });
    const other = String(new URLSearchParams(pairs as [string, string][]));
    const { status, body } = await answer(t, alice, { query: request }, { request: other });
    expect([status, body.error, body.reason]).toEqual([403, 'proof_invalid', 'challenge']);
  });
});

describe('an address changes hands', () => {
  test('the former holder’s tokens lose the claim, and the new holder has another sub', async () => {
    const own = await startVault({ ...chain.vars, ...OPENID_VARS, ADDRESS_MOVE_HOURS: '0' }, clientsFile());
    const former = await registerNewcomer(chain, own);
    const before = await tokensFor(own, former);
    const people = createPeople(chain, () => own);
    const taker = { ...(await people.own('email')), identifier: String(former.body['identifier']) };
    const { txHash } = await people.publish(taker);
    expect((await people.claim(taker, txHash, { proof: true })).status).toBe(200);
    for (let turn = 0; turn < 3; turn++) {
      await chain.mine(1);
      await own.clock.advance(31_000);
      await own.work();
    }
    const held = await own.call('GET /userinfo', {}, bearer(before.access_token));
    expect(held.body).toEqual({ sub: before.claims['sub'] });
    const after = await tokensFor(own, taker);
    await own.stop();
    expect(after.claims['email']).toBe(taker.identifier);
    expect(after.claims['sub']).not.toBe(before.claims['sub'] as string);
  });
});

describe('a stolen client secret', () => {
  test('signs nobody in: it needs a code of that client, and its verifier', async () => {
    const secret = basic('tea', SECRETS.tea);
    expect(await refusalOf(exchange(t, requestOf(), 'x'.repeat(43), {}, secret))).toEqual([
      400,
      'invalid_grant',
      'code',
    ]);
    const code = await codeFor(t, alice, requestOf());
    const guessed = exchange(t, requestOf(), code, {}, secret);
    expect(await refusalOf(guessed)).toEqual([400, 'invalid_grant', 'verifier']);
  });
});

describe('a stolen signing key', () => {
  test('rotated at once, it leaves /jwks, and what it signed is nobody’s id_token_hint', async () => {
    const own = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
    const bob = await registerNewcomer(chain, own);
    const { id_token } = await tokensFor(own, bob);
    const { query } = requestOf('tea', { id_token_hint: id_token });
    expect((await own.call(`GET /authorize?${query}`)).status).toBe(200);
    const kids = async () => (await own.call('GET /jwks')).body.keys.map(({ kid }: { kid: string }) => kid);
    const [stolen] = await kids();
    await replaceSigningKey(own);
    await own.clock.advance(1_000);
    const left = await kids();
    const refused = parametersOf(await own.call(`GET /authorize?${query}`));
    await own.stop();
    expect(left).toHaveLength(1);
    expect(left).not.toContain(stolen);
    expect(refused).toMatchObject({
      error: 'invalid_request',
      error_description: 'id_token_hint is no ID token of this client',
    });
  });
});

describe('clickjacking, referrer, caches', () => {
  test.each<[string, string, string | null]>([
    ['the page', requestOf().query, 'no-cache'],
    ['the page that leads nowhere', requestOf('tea', { redirect_uri: 'https://evil.example/' }).query, null],
  ])('%s: nobody’s frame, and no referrer', async (_, query, cached) => {
    const { headers } = await open(query);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    if (cached) expect(headers.get('cache-control')).toBe(cached);
  });

  test('codes, tokens and refusals are kept by no cache', async () => {
    const request = requestOf();
    const given = await answer(t, alice, request);
    const token = await exchange(t, request, String(parametersOf(given)['code']));
    const refused = await exchange(t, request, 'x'.repeat(43));
    const person = await t.call('GET /userinfo', {}, bearer(token.body.access_token));
    const error = await open(requestOf('tea', { scope: 'none' }).query);
    for (const { headers } of [given, token, refused, person, error])
      expect(headers.get('cache-control')).toContain('no-store');
  });
});
