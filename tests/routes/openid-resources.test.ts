import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createPublicKey, verify } from 'node:crypto';
import { AGENT, agentRequest, createAgentHost } from '../support/agents.ts';
import { type Candidate, startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import {
  answer,
  bearer,
  CLIENTS,
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

// Tokens for servers of the operator's apps (§12): `resource` of RFC 8707, and access tokens of RFC 9068.

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let t: TestVault;
let alice: Candidate;
beforeAll(async () => {
  t = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
  alice = await registerNewcomer(chain, t);
});
afterAll(() => t.stop());

const [{ url: MCP }] = CLIENTS.tea.resources;
const asking = (change: Record<string, string | undefined> = {}) => requestOf('tea', { resource: MCP, ...change });

describe('§12 resource', () => {
  test('the access token is at+jwt (RFC 9068): for that server, that person, and 600 seconds', async () => {
    const { access_token, ...body } = await tokensFor(t, alice, asking({ scope: 'openid email notes:read' }));
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'openid email notes:read' });
    const { keys } = (await t.call('GET /jwks')).body;
    const [header, claims] = partsOf(access_token);
    expect(header).toEqual({ alg: 'RS256', typ: 'at+jwt', kid: keys[0].kid });
    const [head, payload, signature = ''] = access_token.split('.');
    const key = createPublicKey({ key: keys[0], format: 'jwk' });
    expect(verify('sha256', Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
    const now = Math.floor(t.clock.now() / 1000);
    expect(claims).toEqual({
      iss: originOf(t),
      sub: body.claims['sub'],
      aud: MCP,
      client_id: 'tea',
      iat: now,
      exp: now + 600,
      jti: expect.stringMatching(/^[\w-]{22}$/),
      auth_time: now,
      acr: 'phr',
      amr: ['hwk', 'user', 'mfa'],
      scope: 'notes:read',
    });
  });

  test('without openid there is no ID token, and /token may do without resource', async () => {
    const request = asking({ scope: undefined });
    const { body } = await exchange(t, request, await codeFor(t, alice, request));
    expect([Object.keys(body), body.scope]).toEqual([
      ['access_token', 'token_type', 'expires_in', 'scope'],
      'notes:read notes:write',
    ]);
  });

  test('it is no good at /userinfo, and no id_token_hint', async () => {
    const { access_token } = await tokensFor(t, alice, asking());
    const { status, body } = await t.call('GET /userinfo', {}, bearer(access_token));
    expect([status, body.error]).toEqual([401, 'invalid_token']);
    const hinted = await t.call(`GET /authorize?${asking({ id_token_hint: access_token }).query}`);
    expect(parametersOf(hinted)['error']).toBe('invalid_request');
  });

  test('it is no id_token_hint of a client whose document is at the URL of the server either', async () => {
    const host = createAgentHost();
    const tea = { ...CLIENTS.tea, resources: [AGENT] };
    const vars = { ...chain.vars, ...OPENID_VARS, CLIENT_METADATA_HOSTS: 'agent.example' };
    const own = await startVault(vars, { ...clientsFile({ ...CLIENTS, tea }), documentFetch: host.documentFetch });
    const bob = await registerNewcomer(chain, own);
    const request = agentRequest({ resource: AGENT, scope: 'openid' });
    const code = await codeFor(own, bob, request);
    const { body } = await exchange(own, request, code, { client_id: AGENT }, {});
    expect(partsOf(body.access_token)[1]).toMatchObject({ aud: AGENT, client_id: AGENT });
    const opened = (id_token_hint: string) =>
      own.call(`GET /authorize?${agentRequest({ resource: AGENT, id_token_hint }).query}`);
    const [access, identity] = [await opened(body.access_token), await opened(body.id_token)];
    await own.stop();
    expect([parametersOf(access)['error'], identity.status]).toEqual(['invalid_request', 200]);
  });

  test('303 invalid_target: a server that the client may not ask for', async () => {
    const { query } = asking({ resource: 'https://mcp.evil.example/mcp' });
    expect(parametersOf(await t.call(`GET /authorize?${query}`))).toMatchObject({
      error: 'invalid_target',
      error_description: 'resource is no server that this client may ask tokens for',
      state: 'st/ate',
    });
    const { status, body } = await answer(t, alice, { query });
    expect([status, body.error]).toEqual([
      400,
      'Invalid request: resource is no server that this client may ask tokens for',
    ]);
  });

  test('400 invalid_target: another server at /token, or one that the request did not name; nothing is used up', async () => {
    const request = asking();
    const code = await codeFor(t, alice, request);
    for (const resource of ['https://mcp.evil.example/mcp', `${MCP}/`, 'mcp', `${MCP}#x`]) {
      const { status, body } = await exchange(t, request, code, { resource });
      expect([resource, status, body.error]).toEqual([resource, 400, 'invalid_target']);
    }
    expect((await exchange(t, request, code, { resource: MCP })).status).toBe(200);
    const plain = requestOf();
    const { body } = await exchange(t, plain, await codeFor(t, alice, plain), { resource: MCP });
    expect(body.error).toBe('invalid_target');
  });

  test('it is part of the request that the passkey signs', async () => {
    const other = requestOf().query;
    const { status, body } = await answer(t, alice, { query: other }, { request: `${other}&resource=${MCP}` });
    expect([status, body.error, body.reason]).toEqual([403, 'proof_invalid', 'challenge']);
  });

  test('a second exchange is refused as ever', async () => {
    const request = asking();
    const code = await codeFor(t, alice, request);
    const replies = [await exchange(t, request, code), await exchange(t, request, code)];
    expect(replies.map(({ status, body }) => [status, body.reason])).toEqual([
      [200, undefined],
      [400, 'used'],
    ]);
  });
});
