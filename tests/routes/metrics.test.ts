import { afterEach, describe, expect, test } from 'bun:test';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { METRICS, type MetricCatalogue } from '../../lib/base/metric-catalogue.ts';
import { createVault, type Env, type Vault } from '../../routes/index.ts';
import { temporaryFolder } from '../support/databases.ts';
import { readExposition } from '../support/exposition.ts';
import { expectHoldsNone } from '../support/secrecy.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';

const TOKEN = 'scrape-token-0123456789';
const PUBLIC = {
  BASE_URL: 'https://vault.example.com',
  TRUSTED_PROXIES: '127.0.0.1/32',
  ALLOW_LOG_DELIVERY: 'true',
};

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(vars: Readonly<Record<string, string>> = {}): Promise<TestVault> {
  const t = await startVault(vars);
  ends.push(() => t.stop());
  return t;
}

/** A vault without a socket, so that a test says who the peer is. */
function open(vars: Readonly<Record<string, string>>, env: Partial<Env> = {}): Vault {
  const folder = temporaryFolder();
  const database = openSqlite(`${folder.path}/vault.db`);
  const secrets = { VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff') };
  const vault = createVault({ log: () => undefined, ...env, vars: { ...secrets, ...vars }, database });
  ends.push(async () => {
    await vault.close();
    database.close();
    folder.remove();
  });
  return vault;
}

const scrape = async (vault: Vault, peer: string | undefined, headers: Readonly<Record<string, string>> = {}) =>
  (await vault.fetch(new Request('http://vault.example.com/metrics', { headers }), { peer })).status;

describe('GET /metrics', () => {
  test('answers a loopback peer with text 0.0.4, or OpenMetrics 1.0 by Accept', async () => {
    const t = await start();
    const text = await t.call('GET /metrics');
    expect([text.status, text.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text.headers.get('cache-control')).toBe('no-store');
    expect(text.text).toContain('# TYPE vault_db_pool_acquire_wait_seconds histogram');
    const open = await t.call('GET /metrics', {}, { Accept: 'application/openmetrics-text;version=1.0.0' });
    expect(open.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(open.text.endsWith('# EOF\n')).toBe(true);
    expect(readExposition(open.text).families.map(({ name }) => name)).toContain('vault_http_requests');
  });

  test('HEAD has the same headers and no body', async () => {
    const t = await start();
    const head = await t.call('HEAD /metrics');
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([
      200,
      '',
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1_000);
  });

  test('tells queries, their durations, waits for a connection and connections by state, as the specification asks', async () => {
    const t = await start();
    await t.call('GET /api/sessions/status');
    const { families } = readExposition((await t.call('GET /metrics')).text);
    const family = (name: string) => families.find((one) => one.name === name);
    expect(family('vault_db_queries_total')?.samples).toContainEqual({
      name: 'vault_db_queries_total',
      labels: { operation: 'select', outcome: 'ok' },
      value: expect.any(Number),
    });
    expect(family('vault_db_query_duration_seconds')?.type).toBe('histogram');
    expect(family('vault_db_pool_acquire_wait_seconds')?.type).toBe('histogram');
    const connections = family('vault_db_pool_connections')?.samples ?? [];
    expect(connections.map(({ labels, value }) => [labels['state'], value])).toEqual([
      ['used', 0],
      ['idle', 10],
    ]);
    expect(family('vault_db_pool_connections_max')?.samples[0]?.value).toBe(10);
    expect(family('vault_db_pool_pending_requests')?.samples[0]?.value).toBe(0);
    const labelsOf = (name: string) => (METRICS as MetricCatalogue)[name]?.labels;
    for (const { name, samples } of families)
      for (const { labels } of samples)
        expect([name, Object.keys(labels).filter((label) => label !== 'le')]).toEqual([
          name,
          [...(labelsOf(name) ?? [])],
        ]);
    expect(family('vault_build_info')?.samples[0]?.labels).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
  });

  test('codes, messages, sessions and limits are counted by channel and outcome, and nobody is named', async () => {
    const t = await start();
    const alice = { identifier: 'alice@example.com', channel: 'email' };
    for (let i = 0; i < 4; i++) await t.call('POST /api/verify/send', alice);
    await t.call('POST /api/verify/check', { ...alice, code: 'x' });
    await t.call('POST /api/sessions', { ...alice, did: 'did:key:zAlice' });
    await t.call('POST /api/sessions', { ...alice, did: 'did:key:zAlice' });
    const { text } = await t.call('GET /metrics');
    for (const line of [
      'vault_codes_sent_total{channel="email",outcome="accepted"} 3',
      'vault_codes_checked_total{channel="email",outcome="incorrect"} 1',
      'vault_messages_total{channel="email",provider="log",outcome="accepted"} 3',
      'vault_limits_reached_total{limit="sends-per-ip"} 1',
      'vault_sessions_total{outcome="opened"} 1',
      'vault_sessions_total{outcome="identifier_taken"} 1',
    ])
      expect(text.split('\n')).toContain(line);
    const code = t.codeFor('alice@example.com');
    expectHoldsNone(text, 'alice', code, VAULT_SECRET, '127.0.0.1', 'did:key');
  });
});

describe('who may read', () => {
  test('with a public BASE_URL nobody by address alone; with METRICS_TOKEN its bearer, in whatever case the scheme is', async () => {
    const vault = open({ ...PUBLIC, METRICS_TOKEN: TOKEN });
    const peers = ['127.0.0.1', '::1', '10.0.0.1', '203.0.113.7', undefined];
    expect(await Promise.all(peers.map((peer) => scrape(vault, peer)))).toEqual([403, 403, 403, 403, 403]);
    const bearers = [
      `Bearer ${TOKEN}`,
      `bearer ${TOKEN}`,
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
      TOKEN,
      'Bearer ',
    ];
    const statuses = bearers.map((authorization) => scrape(vault, '203.0.113.7', { authorization }));
    expect(await Promise.all(statuses)).toEqual([200, 200, 403, 403, 403, 403]);
    const refused = await vault.fetch(new Request('http://vault.example.com/metrics'), { peer: '203.0.113.7' });
    expect(await refused.json()).toEqual({
      error: 'metrics_forbidden',
      hint: expect.stringContaining('METRICS_TOKEN'),
    });
  });

  test('without METRICS_TOKEN no token is right', async () => {
    const vault = open(PUBLIC);
    for (const authorization of ['Bearer undefined', 'Bearer', 'Bearer null'])
      expect(await scrape(vault, '203.0.113.7', { authorization })).toBe(403);
  });

  test('METRICS_ALLOW is judged by the socket’s peer, IPv4-mapped ones included', async () => {
    const vault = open({ ...PUBLIC, METRICS_ALLOW: '10.1.0.0/16,2001:db8::/32' });
    const cases: [string | undefined, number][] = [
      ['10.1.2.3', 200],
      ['::ffff:10.1.2.3', 200],
      ['2001:db8::9', 200],
      ['10.2.0.1', 403],
      ['127.0.0.1', 403],
      ['2001:db9::1', 403],
      ['not an address', 403],
      [undefined, 403],
    ];
    for (const [peer, status] of cases) expect([peer, await scrape(vault, peer)]).toEqual([peer, status]);
  });

  test('an address from a header never counts, not even a trusted proxy’s', async () => {
    const vault = open({ ...PUBLIC, METRICS_ALLOW: '10.1.0.0/16' });
    for (const name of ['Edge-Connecting-IP', 'X-Forwarded-For', 'X-Real-IP', 'Forwarded'])
      expect([name, await scrape(vault, '127.0.0.1', { [name]: '10.1.2.3' })]).toEqual([name, 403]);
    const trusting = open({ ...PUBLIC, METRICS_ALLOW: '10.1.0.0/16' }, { trustClientIpHeader: true });
    expect(await scrape(trusting, undefined, { 'Edge-Connecting-IP': '10.1.2.3' })).toBe(403);
  });

  test('a request made by a page of another site needs the token even from loopback', async () => {
    const t = await start({ METRICS_TOKEN: TOKEN });
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await t.call('GET /metrics', {}, headers)).status;
    expect(await status({})).toBe(200);
    for (const headers of [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: t.url },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ]) {
      expect([headers, await status(headers)]).toEqual([headers, 403]);
      expect(await status({ ...headers, Authorization: `Bearer ${TOKEN}` })).toBe(200);
    }
    expect(await status({ 'Sec-Fetch-Site': 'none' })).toBe(200);
    expect(await status({ 'Sec-Fetch-Site': 'same-origin' })).toBe(200);
  });
});

test('no path, method, header or identifier that a caller makes up makes a series of its own', async () => {
  const t = await start({ RATE_LIMIT_READS_PER_IP: '100000' });
  const storm = async (n: number) => {
    const path = `/x${n}/..;/${'a'.repeat(n)}%0a"}`;
    await t.call(`GET ${path}`);
    await t.call(`GET /api/sessions/check?identifier=user${n}@example.com`);
    await t.call(`GET /api/indexer/evil${n}`);
    await t.call('POST /api/sessions', { identifier: `user${n}`, channel: `c${n}`, did: `did:m${n}:x` });
    await t.call('POST /api/bundler', { jsonrpc: '2.0', id: n, method: `m_${n}`, params: [] });
    await fetch(`${t.url}/api/status`, { method: `PROPFIND${n}` }).catch(() => undefined);
    await t.call('GET /api/status', {}, { 'X-Request-Id': `r${n}`, 'X-Vault-App': `app${n}`, 'User-Agent': `u${n}` });
  };
  const series = async () => {
    const { families } = readExposition((await t.call('GET /metrics')).text);
    return families.flatMap(({ samples }) => samples.map(({ name, labels }) => `${name}${JSON.stringify(labels)}`));
  };
  await storm(0);
  await series();
  const before = await series();
  for (let n = 1; n <= 20; n++) await storm(n);
  expect(await series()).toEqual(before);
  expectHoldsNone(before, 'evil', 'propfind', 'example.com', '/x0', 'm_0');
});
