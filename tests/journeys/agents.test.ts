import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { toolPath } from '../../scripts/testing/tools.ts';
import { AGENT, AGENT_URI, createAgentHost, documentOf, jsonOf } from '../support/agents.ts';
import { type Candidate, startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { answer, clientsFile, OPENID_VARS, partsOf, requestOf, tokensFor } from '../support/openid.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';
import { callTool } from '../tools/agents.ts';

// What agents run, as its packages are: the client of MCP reaches the server of examples/apps by a token of the vault,
// and the conformance tests of MCP judge the vault. Both judge by the time of this machine, so the vault's clock begins
// there.

const APP = join(import.meta.dir, '../../examples/apps/mcp.ts');
const chain = await startRelayChain({ startsAt: Date.now() });
afterAll(chain.stop);

let app: { fetch(request: Request): Promise<Response> } | undefined;
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }),
});
const resource = `http://localhost:${server.port}/mcp`;
const host = createAgentHost({
  [AGENT]: () => jsonOf(documentOf({ redirect_uris: ['http://127.0.0.1/callback'] })),
});
let t: TestVault;
let alice: Candidate;
beforeAll(async () => {
  const clock = testClock(Date.now());
  const tea = { redirect_uris: ['http://localhost:9999/back'], resources: [{ url: resource, scopes: ['notes:read'] }] };
  const page = { redirect_uris: ['http://localhost:4001/'] };
  const vars = { ...chain.vars, ...OPENID_VARS, CLIENT_METADATA_HOSTS: 'agent.example' };
  t = await startVault(vars, { ...clientsFile({ tea, page }), documentFetch: host.documentFetch, clock });
  alice = await registerNewcomer(chain, t);
  const text = await Bun.file(APP).text();
  // Beside the packages that the example imports.
  const folder = mkdtempSync(toolPath('.mcp-'));
  const own = text
    .replaceAll('https://vault.example.com', originOf(t))
    .replaceAll('https://mcp.tea.example/mcp', resource);
  writeFileSync(join(folder, 'mcp.ts'), own);
  ({ default: app } = await import(join(folder, 'mcp.ts')));
  rmSync(folder, { recursive: true });
});
afterAll(async () => {
  await server.stop(true);
  await t.stop();
});

/** Follows a link to the page, has the passkey sign there, and answers where the browser goes. */
async function visit(link: URL): Promise<URL> {
  const page = await t.call(`GET ${link.pathname}${link.search}`);
  if (page.status !== 200) throw new Error(`no page: ${page.status} ${page.headers.get('location')} ${page.text}`);
  const { body } = await answer(t, alice, { query: link.search.slice(1) });
  return new URL(body.location);
}

describe('@modelcontextprotocol/sdk, unmodified, with the URL of its document', () => {
  test('reaches the server of examples/apps/mcp.ts in the person’s name', async () => {
    const found = await callTool(resource, 'read_notes', {
      document: AGENT,
      redirectUri: AGENT_URI,
      visit: async (link) => (await visit(link)).searchParams.get('code') ?? '',
    });
    expect(Object.fromEntries(found.link.searchParams)).toMatchObject({
      client_id: AGENT,
      resource,
      scope: 'notes:read',
    });
    const [header, claims] = partsOf(found.tokens?.access_token ?? '');
    expect(header).toMatchObject({ typ: 'at+jwt' });
    expect(claims).toMatchObject({ aud: resource, client_id: AGENT, scope: 'notes:read' });
    expect(found.answer.content).toEqual([{ type: 'text', text: `The notes of ${claims?.['sub']}` }]);
    expect(host.asked).toEqual([AGENT]);
  });
});

describe('examples/apps/mcp.ts', () => {
  const ask = (token?: string) =>
    fetch(resource, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });

  /** A sign-in at another app. */
  const pageTokens = () => tokensFor(t, alice, requestOf('page'));

  test.each<[string, () => Promise<string | undefined>]>([
    ['no token', async () => undefined],
    ['an access token of /userinfo', async () => (await pageTokens()).access_token],
    ['an ID token', async () => (await pageTokens()).id_token],
    ['a token that was changed', async () => `${(await pageTokens()).id_token}x`],
  ])('refuses %s, and says where to get one', async (_, token) => {
    const { status, headers } = await ask(await token());
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining(`resource_metadata="${new URL('/.well-known/oauth-protected-resource/mcp', resource)}"`),
    ]);
  });
});

test('@modelcontextprotocol/conformance authorization: 3 of 3', async () => {
  const port = freePort();
  const script = toolPath('@modelcontextprotocol/conformance/dist/index.js');
  const flags = ['--url', originOf(t), '--client-id', AGENT, '--resource', resource, '-p', String(port)];
  const child = Bun.spawn([process.execPath, script, 'authorization', ...flags], { stdout: 'pipe', stderr: 'pipe' });
  let said = '';
  let isAnswered = false;
  for await (const chunk of child.stdout) {
    said += new TextDecoder().decode(chunk);
    const [link] = /http:\/\/localhost:\d+\/authorize\?\S+/.exec(said) ?? [];
    if (link === undefined || isAnswered || !said.includes('Waiting')) continue;
    isAnswered = true;
    await fetch(await visit(new URL(link)));
  }
  expect([await child.exited, /Total: .*/.exec(said)?.[0]]).toEqual([0, 'Total: 3 passed, 0 failed']);
});
