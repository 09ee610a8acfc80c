import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { AGENT, agentRequest, assertionOf, createAgentHost, documentOf, jsonOf } from '../support/agents.ts';
import { type Candidate, startRelayChain } from '../support/candidates.ts';
import { settableClock, testClock } from '../support/clock.ts';
import { basic, clientsFile, codeFor, exchange, OPENID_VARS, requestOf, SECRETS } from '../support/openid.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// Clients with a document show a key at /token (RFC 7523): each refusal is for a reason of its own.

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

const host = createAgentHost();
let t: TestVault;
let alice: Candidate;
beforeAll(async () => {
  const vars = { ...chain.vars, ...OPENID_VARS, CLIENT_METADATA_HOSTS: 'agent.example' };
  t = await startVault(vars, { ...clientsFile(), documentFetch: host.documentFetch });
  alice = await registerNewcomer(chain, t);
});
afterAll(() => t.stop());

type Change = Readonly<Record<string, string | undefined>>;

describe('§12 private_key_jwt', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwks = {
    keys: [
      { ...ec.publicKey.export({ format: 'jwk' }), kid: 'ec', use: 'sig' },
      { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa', alg: 'RS256' },
    ],
  };
  const SIGNED = 'https://agent.example/signed.json';
  const BY_URI = 'https://agent.example/by-uri.json';
  const way = { token_endpoint_auth_method: 'private_key_jwt' };
  beforeAll(() => {
    host.documents.set(SIGNED, () => jsonOf(documentOf({ client_id: SIGNED, ...way, jwks })));
    const jwks_uri = 'https://agent.example/jwks.json';
    host.documents.set(BY_URI, () => jsonOf(documentOf({ client_id: BY_URI, ...way, jwks_uri })));
    host.documents.set(jwks_uri, () => jsonOf(jwks));
  });

  let ids = 0;
  const claimsOf = (client_id = SIGNED) => {
    const now = Math.floor(t.clock.now() / 1000);
    return { iss: client_id, sub: client_id, aud: originOf(t), iat: now, exp: now + 300, jti: `${++ids}` };
  };
  const shown = (client_assertion: string) => ({
    client_id: undefined,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion,
  });
  const ask = async (client_assertion: string, change: Change = {}, client_id = SIGNED) => {
    const request = agentRequest({ client_id });
    const code = await codeFor(t, alice, request);
    await t.clock.advance(1_000);
    const { status, body } = await exchange(t, request, code, { ...shown(client_assertion), ...change }, {});
    return [status, body.error];
  };

  test.each<[string, () => string, string, Change]>([
    ['ES256', () => assertionOf({ key: ec.privateKey, claims: claimsOf() }), SIGNED, {}],
    ['RS256', () => assertionOf({ key: rsa.privateKey, alg: 'RS256', claims: claimsOf() }), SIGNED, {}],
    ['a kid', () => assertionOf({ key: ec.privateKey, header: { kid: 'ec' }, claims: claimsOf() }), SIGNED, {}],
    [
      '/token as audience, and client_id beside it',
      () => assertionOf({ key: ec.privateKey, claims: { ...claimsOf(), aud: [`${originOf(t)}/token`] } }),
      SIGNED,
      { client_id: SIGNED },
    ],
    ['keys at jwks_uri', () => assertionOf({ key: ec.privateKey, claims: claimsOf(BY_URI) }), BY_URI, {}],
  ])('200: %s', async (_, make, client_id, change) => {
    expect(await ask(make(), change, client_id)).toEqual([200, undefined]);
  });

  test('401 invalid_client: jti is used once', async () => {
    const assertion = assertionOf({ key: ec.privateKey, claims: claimsOf() });
    expect(await ask(assertion)).toEqual([200, undefined]);
    expect(await ask(assertion)).toEqual([401, 'invalid_client']);
  });

  const hmac = (claims: object) => {
    const parts = [{ alg: 'HS256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
    const key = JSON.stringify(jwks.keys[0]);
    return [...parts, createHmac('sha256', key).update(parts.join('.')).digest('base64url')].join('.');
  };
  const unsigned = (claims: object) =>
    `${[{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`;
  const signed = (change: object, more: object = {}) =>
    assertionOf({ key: ec.privateKey, claims: { ...claimsOf(), ...change }, ...more });
  const seconds = (more: number) => Math.floor(t.clock.now() / 1000) + more;
  test.each<[string, () => string]>([
    ['by a stranger’s key', () => signed({}, { key: stranger.privateKey })],
    ['unsigned', () => unsigned(claimsOf())],
    ['HS256 with the public key', () => hmac(claimsOf())],
    ['another alg than the key’s', () => signed({}, { header: { alg: 'RS256' } })],
    ['an unknown kid', () => signed({}, { header: { kid: 'x' } })],
    ['an extension that must be understood', () => signed({}, { header: { crit: ['x'] } })],
    ['for another server', () => signed({ aud: 'https://evil.example' })],
    ['for two servers', () => signed({ aud: [originOf(t), 'https://evil.example'] })],
    ['of another client', () => signed({ iss: AGENT, sub: AGENT })],
    ['by another issuer', () => signed({ iss: AGENT })],
    ['over', () => signed({ exp: seconds(-62) })],
    ['good for too long', () => signed({ exp: seconds(662) })],
    ['not good yet', () => signed({ nbf: seconds(120) })],
    ['without exp', () => signed({ exp: undefined })],
    ['without jti', () => signed({ jti: undefined })],
    ['with a jti of any length', () => signed({ jti: 'x'.repeat(257) })],
    ['no token', () => 'x.y.z'],
  ])('401 invalid_client: %s', async (_, make) => {
    expect(await ask(make(), { client_id: SIGNED })).toEqual([401, 'invalid_client']);
  });

  test('401 invalid_client: no key where one is due, a key where none is, and a secret; no event of a stranger’s', async () => {
    const assertion = () => assertionOf({ key: ec.privateKey, claims: claimsOf() });
    const bare = { client_assertion: undefined, client_assertion_type: undefined, client_id: SIGNED };
    expect(await ask('', bare)).toEqual([401, 'invalid_client']);
    expect(await ask('', { ...bare, client_secret: 'x' })).toEqual([401, 'invalid_client']);
    expect(await ask(assertion(), { client_id: AGENT }, AGENT)).toEqual([401, 'invalid_client']);
    await t.idle();
    expect(await t.rows(`SELECT app FROM events WHERE type = 'client.refused'`)).toEqual([]);
  });

  test('400 invalid_request: two ways at once, and an assertion of another type', async () => {
    const assertion = () => assertionOf({ key: ec.privateKey, claims: claimsOf() });
    expect(await ask(assertion(), { client_secret: 'x' })).toEqual([400, 'invalid_request']);
    expect(await ask(assertion(), { client_assertion_type: 'x' })).toEqual([400, 'invalid_request']);
    const request = requestOf();
    const two = await exchange(t, request, 'x', shown(assertion()), basic('tea', SECRETS.tea));
    expect([two.status, two.body.error]).toEqual([400, 'invalid_request']);
  });

  test('401 invalid_client: a jti stays used for as long as its assertion counts', async () => {
    const claims = claimsOf();
    const first = assertionOf({ key: ec.privateKey, claims });
    expect(await ask(first)).toEqual([200, undefined]);
    await t.clock.advance(340_000);
    // It counts still: so does another one that ended with it.
    const other = assertionOf({ key: ec.privateKey, claims: { ...claims, jti: 'another' } });
    expect(await ask(other)).toEqual([200, undefined]);
    expect(await ask(first)).toEqual([401, 'invalid_client']);
  });

  test('401 invalid_client: a jti stays used where another vault’s clock is a minute ahead', async () => {
    const claims = claimsOf();
    const first = assertionOf({ key: ec.privateKey, claims });
    expect(await ask(first)).toEqual([200, undefined]);
    const ahead = settableClock(t.clock);
    const vars = { ...chain.vars, ...OPENID_VARS, CLIENT_METADATA_HOSTS: 'agent.example', BASE_URL: originOf(t) };
    const more = { documentFetch: host.documentFetch, database: t.database, clock: ahead };
    const other = await startVault(vars, { ...clientsFile(), ...more });
    // Shortly before the assertion ends here; there it has ended, and what has ended is removed.
    await t.clock.advance(355_000);
    ahead.set(60_000);
    const later = assertionOf({ key: ec.privateKey, claims: { ...claimsOf(), exp: seconds(120) } });
    const swept = await exchange(other, agentRequest({ client_id: SIGNED }), 'x', shown(later), {});
    await other.stop();
    expect(swept.body).toMatchObject({ error: 'invalid_grant', reason: 'code' });
    // It counts here still: so does another one that ends with it.
    const twin = assertionOf({ key: ec.privateKey, claims: { ...claims, jti: `${++ids}` } });
    expect(await ask(twin)).toEqual([200, undefined]);
    expect(await ask(first)).toEqual([401, 'invalid_client']);
  });

  test('a link whose client_id is the jwks_uri of a client, and a jwks_uri that is its document, shut nobody out', async () => {
    const [victim, keys] = ['https://agent.example/victim.json', 'https://agent.example/victim-keys.json'];
    host.documents.set(victim, () => jsonOf(documentOf({ client_id: victim, ...way, jwks_uri: keys })));
    host.documents.set(keys, () => jsonOf(jwks));
    const thief = 'https://agent.example/thief.json';
    host.documents.set(thief, () => jsonOf(documentOf({ client_id: thief, ...way, jwks_uri: victim })));
    expect((await t.call(`GET /authorize?${agentRequest({ client_id: keys }).query}`)).status).toBe(400);
    const tried = assertionOf({ key: ec.privateKey, claims: claimsOf(thief) });
    expect(await ask(tried, {}, thief)).toEqual([401, 'invalid_client']);
    const own = assertionOf({ key: ec.privateKey, claims: claimsOf(victim) });
    expect(await ask(own, {}, victim)).toEqual([200, undefined]);
  });

  test('keys at a jwks_uri are read again after five minutes, however long their host lets them be kept', async () => {
    const [client, uri] = ['https://agent.example/rotating.json', 'https://agent.example/rotating-keys.json'];
    const day = { 'cache-control': 'max-age=86400' };
    host.documents.set(client, () => jsonOf(documentOf({ client_id: client, ...way, jwks_uri: uri }), day));
    host.documents.set(uri, () => jsonOf(jwks, day));
    const fetches = async () => {
      const own = assertionOf({ key: ec.privateKey, claims: claimsOf(client) });
      expect(await ask(own, {}, client)).toEqual([200, undefined]);
      return host.asked.filter((one) => one === uri).length;
    };
    expect([await fetches(), await fetches()]).toEqual([1, 1]);
    await t.clock.advance(5 * 60_000);
    expect(await fetches()).toBe(2);
  });

  test('what clients have shown is forgotten when it has ended', async () => {
    await ask(assertionOf({ key: ec.privateKey, claims: claimsOf() }));
    await t.clock.advance(12 * 60_000);
    await ask(assertionOf({ key: ec.privateKey, claims: claimsOf() }));
    expect(await t.rows(`SELECT count(*) AS n FROM client_assertions`)).toEqual([{ n: 1 }]);
  });
});
