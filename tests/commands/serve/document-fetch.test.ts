import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createGuardedFetch } from '../../../commands/serve/webhook-fetch.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { agentRequest, documentOf } from '../../support/agents.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { CLIENTS, clientsFile, OPENID_VARS } from '../../support/openid.ts';
import { startProgram } from '../../support/program.ts';
import { TEST_AUTHORITY, TEST_CERTIFICATES } from '../../support/tls.ts';
import { until } from '../../support/until.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

// The documents of agents over real connections, as `vault serve` fetches them. tests/routes/client-documents.test.ts
// has the rules for their contents.

/** Signing people in needs a registrar; none registers here. */
const REGISTRAR = {
  REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
  DID_REGISTRY_ADDRESS: `0x${'11'.repeat(20)}`,
  RPC_URL: 'http://127.0.0.1:1',
};

describe('§12 a document over TLS', () => {
  const answers = new Map<string, () => Response>();
  const asked: string[] = [];
  const listen = (hostname: string, port: number) =>
    Bun.serve({
      hostname,
      port,
      tls: TEST_CERTIFICATES['hooks.example'],
      fetch(request) {
        const { pathname } = new URL(request.url);
        asked.push(`${hostname} ${pathname}`);
        return answers.get(pathname)?.() ?? new Response('', { status: 404 });
      },
    });
  // The first address stands for a public one, the second for one inside.
  const outside = listen('127.0.0.1', 0);
  const inside = listen('127.0.0.2', Number(outside.port));
  const guarded = createGuardedFetch({
    allowPrivate: false,
    allows: (address) => address === '127.0.0.1',
    resolve: async (hostname) => [hostname === 'hooks.example' ? '127.0.0.1' : '127.0.0.2'],
    ca: TEST_AUTHORITY,
  });
  let t: TestVault;
  beforeAll(async () => {
    const vars = { ...REGISTRAR, ...OPENID_VARS, CLIENT_METADATA_HOSTS: 'hooks.example,inside.example' };
    // A document has the default port, which no test may listen at.
    const documentFetch: typeof guarded = (url, init) =>
      guarded(url.replace('.example/', `.example:${outside.port}/`), init);
    t = await startVault(vars, { ...clientsFile(), documentFetch });
  });
  afterAll(async () => {
    await t.stop();
    await Promise.all([outside, inside].map((one) => one.stop(true)));
  });
  const open = (url: string) => t.call(`GET /authorize?${agentRequest({ client_id: url }).query}`);
  const at = (path: string, answer: () => Response, host = 'hooks.example') => {
    answers.set(path, answer);
    return `https://${host}${path}`;
  };
  const json = { headers: { 'content-type': 'application/json' } };

  test('is fetched, and opens the page', async () => {
    const url = at('/good.json', () => Response.json(documentOf({ client_id: 'https://hooks.example/good.json' })));
    expect((await open(url)).status).toBe(200);
    expect(asked).toContain('127.0.0.1 /good.json');
  });

  test('on a trusted host that resolves to an address inside is not asked for', async () => {
    const url = at('/inside.json', () => Response.json(documentOf()), 'inside.example');
    const { status, text } = await open(url);
    expect([status, text]).toEqual([400, expect.stringContaining('unreachable (address refused)')]);
    expect(asked).not.toContain('127.0.0.2 /inside.json');
  });

  test.each([301, 302, 303, 307, 308])('behind a redirect of %d is not followed, inside or out', async (status) => {
    for (const host of ['hooks.example', 'inside.example']) {
      const location = at(`/led-${status}.json`, () => Response.json(documentOf()), host);
      const url = at(`/leads-${host}-${status}.json`, () => new Response(null, { status, headers: { location } }));
      expect((await open(url)).text).toContain('cannot be fetched: redirect');
    }
    expect(asked.filter((one) => one.includes(`/led-${status}`))).toEqual([]);
  });

  test('that never ends is cut off after 5 KiB', async () => {
    let sent = 0;
    let isCut = false;
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          sent += 1_024;
          controller.enqueue(new Uint8Array(1_024).fill(0x20));
        },
        cancel() {
          isCut = true;
        },
      });
    const { text } = await open(at('/endless.json', () => new Response(endless(), json)));
    expect(text).toContain('cannot be fetched: oversize');
    await until('the connection to end', () => isCut);
    // What lies in the buffers of the connection may have been sent.
    expect(sent).toBeLessThan(16 * 1_024 * 1_024);
  });

  test('that begins and does not go on is given up after 5 seconds', async () => {
    let isCut = false;
    let isBegun = false;
    const stalled = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{'));
          isBegun = true;
        },
        cancel() {
          isCut = true;
        },
      });
    const opened = open(at('/stalled.json', () => new Response(stalled(), json)));
    await until('the answer to begin', () => isBegun);
    await t.clock.advance(5_000);
    expect((await opened).text).toContain('cannot be fetched: timeout');
    await until('the connection to end', () => isCut);
  });
});

test('§12 vault serve asks no address inside for a document, whatever a name resolves to', async () => {
  const folder = temporaryFolder();
  const names = join(import.meta.dir, '../../support/inside-names.ts');
  await Bun.write(join(folder.path, 'clients.json'), JSON.stringify(CLIENTS));
  const hosts = { CLIENT_METADATA_HOSTS: 'inside.example' };
  const vars = { ...REGISTRAR, ...OPENID_VARS, ...hosts, VAULT_SECRET, DATA_DIR: folder.path };
  const program = await startProgram(vars, { cwd: folder.path, preload: names, fromSources: true });
  try {
    const { query } = agentRequest({ client_id: 'https://inside.example/agent.json' });
    const response = await fetch(`${program.url}/authorize?${query}`);
    const text = await response.text();
    expect([response.status, text]).toEqual([400, expect.stringContaining('unreachable (address refused)')]);
  } finally {
    await program.stop();
    folder.remove();
  }
});
