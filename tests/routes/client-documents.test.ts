import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { AGENT, AGENT_URI, agentRequest, createAgentHost, documentOf, jsonOf } from '../support/agents.ts';
import { type Candidate, startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import {
  answer,
  clientsFile,
  codeFor,
  exchange,
  OPENID_VARS,
  parametersOf,
  partsOf,
  requestOf,
  tokensFor,
} from '../support/openid.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// Clients that nobody registered (§12): their client id is the URL of a document on a host of CLIENT_METADATA_HOSTS.

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

const VARS = { ...chain.vars, ...OPENID_VARS, CLIENT_METADATA_HOSTS: 'agent.example,other.example' };
const host = createAgentHost();
let t: TestVault;
let alice: Candidate;
beforeAll(async () => {
  t = await startVault(VARS, { ...clientsFile(), documentFetch: host.documentFetch });
  alice = await registerNewcomer(chain, t);
});
afterAll(() => t.stop());

type Change = Readonly<Record<string, string | undefined>>;
const open = (change: Change = {}, vault = t) => vault.call(`GET /authorize?${agentRequest(change).query}`);
const exchanged = (request: ReturnType<typeof agentRequest>, code: string, change: Change = {}) =>
  exchange(t, request, code, { client_id: AGENT, ...change }, {});
/** The URL of one more document, which is fetched for the first time. */
let count = 0;
const another = (document: (url: string) => Response | Promise<Response>) => {
  const url = `https://agent.example/oauth/${++count}.json`;
  host.documents.set(url, () => document(url));
  return url;
};

describe('§12 a client by its document', () => {
  test('gets a token of the server; the person is who they are at its app', async () => {
    const request = agentRequest({ scope: 'openid notes:read' });
    const { status, body } = await exchanged(request, await codeFor(t, alice, request));
    expect([status, body.error_description]).toEqual([200, undefined]);
    const atTea = await tokensFor(t, alice);
    const [access, identity] = [partsOf(body.access_token)[1], partsOf(body.id_token)[1]];
    expect(access).toMatchObject({ aud: 'https://mcp.tea.example/mcp', client_id: AGENT, scope: 'notes:read' });
    expect(identity).toMatchObject({ aud: AGENT });
    for (const claims of [access, identity]) expect(claims?.['sub']).toBe(atTea.claims['sub'] as string);
  });

  test('the page knows whose server it is, and shows no name of the document', async () => {
    const { status, text } = await open();
    expect([status, text.includes('<meta name="vault-app" content="tea">'), text.includes('Claude')]).toEqual([
      200,
      true,
      false,
    ]);
  });

  test('a sign-in is of the app whose server it is', async () => {
    const before = t.clock.now();
    await codeFor(t, alice, agentRequest());
    const rows = await t.rows(`SELECT DISTINCT app FROM signins WHERE at >= ${before}`);
    expect(rows).toEqual([{ app: 'tea' }]);
  });

  test('loopback redirect URIs are of any port (RFC 8252), and of nothing else that differs', async () => {
    const statusOf = async (redirect_uri: string) => (await open({ redirect_uri })).status;
    const good = ['http://127.0.0.1/callback', 'http://127.0.0.1:1/callback', AGENT_URI, 'https://agent.example/back'];
    const wrong = [
      'http://127.0.0.1:33418/callback/',
      'http://127.0.0.1:33418/callback?x=1',
      'http://127.0.0.1:33418@evil.example/callback',
      'http://127.0.0.1:33418.evil.example/callback',
      'http://127.0.0.1:/callback',
      'http://127.0.0.1:65536/callback',
      'http://127.0.0.2:33418/callback',
      'http://localhost:33418/callback',
      'https://127.0.0.1:33418/callback',
      'https://agent.example:444/back',
      'https://evil.example/back',
    ];
    for (const uri of good) expect([uri, await statusOf(uri)]).toEqual([uri, 200]);
    for (const uri of wrong) expect([uri, await statusOf(uri)]).toEqual([uri, 400]);
    // A client of CLIENTS has its ports.
    const page = await t.call(`GET /authorize?${requestOf('page', { redirect_uri: 'http://localhost:4002/' }).query}`);
    expect(page.status).toBe(400);
  });

  test.each<[string, Change, string]>([
    ['PKCE always', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['a resource always', { resource: undefined, scope: 'openid email' }, 'invalid_target'],
    ['a resource of CLIENTS', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
    ['each time asks the person', { prompt: 'none' }, 'login_required'],
  ])('demands %s', async (_, change, error) => {
    expect(parametersOf(await open(change))).toMatchObject({ error, state: 'st/ate', iss: originOf(t) });
  });

  test('discovery says so, and only where there are hosts', async () => {
    const plain = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
    for (const path of ['openid-configuration', 'oauth-authorization-server'] as const) {
      expect((await t.call(`GET /.well-known/${path}`)).body).toMatchObject({
        client_id_metadata_document_supported: true,
        token_endpoint_auth_methods_supported: expect.arrayContaining(['none', 'private_key_jwt']),
        token_endpoint_auth_signing_alg_values_supported: ['RS256', 'ES256'],
      });
      expect((await plain.call(`GET /.well-known/${path}`)).body).not.toHaveProperty(
        'client_id_metadata_document_supported',
      );
    }
    const refused = await plain.call(`GET /authorize?${agentRequest().query}`);
    await plain.stop();
    expect(refused.status).toBe(400);
  });
});

describe('§12 documents', () => {
  test.each([
    'http://agent.example/oauth/client.json',
    'https://evil.example/client.json',
    'https://agent.example.evil.example/client.json',
    'https://agent.example@evil.example/client.json',
    'https://me@agent.example/client.json',
    'https://agent.example:8443/client.json',
    'https://agent.example:443/client.json',
    'https://AGENT.example/client.json',
    'https://agent.example/a/../client.json',
    'https://agent.example/client.json#x',
    'https://agent.example/',
    `https://agent.example/${'x'.repeat(500)}`,
    'https://169.254.169.254/latest/meta-data',
  ])('%s is no client, and nothing is fetched', async (client_id) => {
    const before = host.asked.length;
    const { status, headers } = await open({ client_id });
    expect([status, headers.get('location'), host.asked.length]).toEqual([400, null, before]);
  });

  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
  const saying = (change: object) => (url: string) => jsonOf(documentOf({ client_id: url, ...change }));
  const signed = { token_endpoint_auth_method: 'private_key_jwt' };
  const page = { headers: { 'content-type': 'text/html' } };
  const uris = ['http://evil.example/', 'agent:/x'];
  test.each<[string, (url: string) => Response, string]>([
    ['of another client', () => jsonOf(documentOf()), 'its client_id is not its own URL'],
    ['behind a redirect', () => Response.redirect('https://evil.example/', 302), 'cannot be fetched: redirect'],
    ['that is not there', () => new Response('', { status: 404 }), 'cannot be fetched: refused (404)'],
    ['of 5 KiB and more', saying({ x: 'x'.repeat(5_120) }), 'cannot be fetched: oversize'],
    ['that is a page', () => new Response('{}', page), 'cannot be fetched: malformed (no JSON)'],
    ['that is no object', () => jsonOf([]), 'it is no JSON object with client_id and redirect_uris'],
    ['with a secret', saying({ client_secret: 'x' }), 'it has a client_secret'],
    ['without a redirect URI of use', saying({ redirect_uris: uris }), 'it has no redirect URI of https or loopback'],
    ['of a secret way', saying({ token_endpoint_auth_method: 'client_secret_basic' }), 'it authenticates neither'],
    ['without keys', saying(signed), 'it authenticates neither'],
    ['with keys elsewhere', saying({ ...signed, jwks_uri: 'https://other.example/jwks' }), 'it authenticates neither'],
    ['whose key is weak', saying({ ...signed, jwks: { keys: [weak] } }), 'it authenticates neither'],
    ['for other grants', saying({ grant_types: ['client_credentials'] }), 'its grant_types'],
  ])('one %s leads nowhere, and the developer reads why', async (_, document, words) => {
    const { status, text, headers } = await open({ client_id: another(document) });
    expect([status, headers.get('location')]).toEqual([400, null]);
    expect(text).toContain(words);
    for (const secret of ['evil.example', 'other.example']) expect(text).not.toContain(secret);
  });

  test('one that does not come within 5 seconds is given up', async () => {
    const url = another(() => new Promise<Response>(() => undefined));
    const opened = open({ client_id: url });
    while (!host.asked.includes(url)) await new Promise((resolve) => setImmediate(resolve));
    await t.clock.advance(5_000);
    expect((await opened).text).toContain('it cannot be fetched: timeout');
  });

  test.each([
    ['without Cache-Control', {}, 300],
    ['max-age=10', { 'cache-control': 'max-age=10' }, 300],
    ['no-store', { 'cache-control': 'no-store, max-age=7200' }, 300],
    ['max-age=7200', { 'cache-control': 'public, max-age=7200' }, 7_200],
    ['max-age of a year', { 'cache-control': 'max-age=31536000' }, 86_400],
  ])('are kept as they say, for 5 minutes to 24 hours: %s', async (_, headers, seconds) => {
    const url = another((own) => jsonOf(documentOf({ client_id: own }), headers));
    const fetches = () => host.asked.filter((one) => one === url).length;
    expect((await open({ client_id: url })).status).toBe(200);
    await t.clock.advance(seconds * 1_000 - 1);
    await open({ client_id: url });
    expect(fetches()).toBe(1);
    await t.clock.advance(1);
    await open({ client_id: url });
    expect(fetches()).toBe(2);
  });

  test('a failure is kept for a minute', async () => {
    let isThere = false;
    const url = another((own) =>
      isThere ? jsonOf(documentOf({ client_id: own })) : new Response('', { status: 500 }),
    );
    expect((await open({ client_id: url })).status).toBe(400);
    isThere = true;
    await t.clock.advance(59_999);
    expect((await open({ client_id: url })).status).toBe(400);
    await t.clock.advance(1);
    expect((await open({ client_id: url })).status).toBe(200);
  });

  test('429 rate_limited: a stranger has few fetched, and what is known costs nothing', async () => {
    const own = createAgentHost();
    const small = await startVault(
      { ...VARS, RATE_LIMIT_PROXY_PER_IP: '2' },
      { ...clientsFile(), documentFetch: own.documentFetch },
    );
    const statuses: number[] = [];
    for (const client_id of [AGENT, AGENT, `${AGENT}?1`, `${AGENT}?2`, AGENT])
      statuses.push((await open({ client_id }, small)).status);
    await small.stop();
    expect([statuses, own.asked.length]).toEqual([[200, 200, 400, 429, 200], 2]);
  });

  test('eight are fetched at once, and no more', async () => {
    const own = createAgentHost();
    const slow = await startVault(VARS, {
      ...clientsFile(),
      documentFetch(url: string) {
        own.asked.push(url);
        return new Promise<Response>(() => undefined);
      },
    });
    const opened = Array.from({ length: 9 }, (_, i) => open({ client_id: `${AGENT}?${i}` }, slow));
    const first = await Promise.race(opened);
    expect([own.asked.length, first.text.includes('too many are fetched at the moment')]).toEqual([8, true]);
    await slow.clock.advance(5_000);
    await Promise.all(opened);
    await slow.stop();
  });
});

test('consent phishing: a touch for one agent is no touch for another, nor for another port', async () => {
  const { query } = agentRequest();
  const client_id = another((url) => jsonOf(documentOf({ client_id: url })));
  for (const change of [{ redirect_uri: 'http://127.0.0.1:1/callback' }, { client_id }]) {
    const { status, body } = await answer(t, alice, { query }, { request: agentRequest(change).query });
    expect([status, body.error, body.reason]).toEqual([403, 'proof_invalid', 'challenge']);
  }
});
