import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHosts } from '../../../routes/http/host.ts';
import { ROUTES } from '../../../routes/index.ts';
import { sendRaw } from '../../support/raw.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ ALLOWED_HOSTS: 'vault.internal, Other.Example.com.' });
});
afterEach(() => t.stop());

const ADMIN = ROUTES.filter(({ path }) => /^\/(metrics|console|v1\/console)/.test(path));
const MISDIRECTED = [421, 'misdirected_request'];
const answerOf = (text: string) => JSON.parse(text).error;

describe('a page that DNS rebinding led here names its own host', () => {
  const evil = (port: string) => [
    'evil.example',
    `evil.example:${port}`,
    'localhost.evil.example',
    '127.0.0.1.evil.example',
  ];

  test.each(ADMIN.map(({ method, path }) => `${method} ${path}`))('%s is 421 misdirected_request', async (line) => {
    for (const host of evil(new URL(t.url).port)) {
      const reply = await sendRaw(t.url, [`${line} HTTP/1.1`, `Host: ${host}`, 'Content-Length: 0']);
      expect([reply.status, answerOf(reply.text)]).toEqual(MISDIRECTED);
      expect(reply.text).toContain('ALLOWED_HOSTS');
    }
  });

  test('it names no other client: the header is not believed, and the limit stands', async () => {
    const statuses: number[] = [];
    for (let n = 1; n <= 5; n++) {
      const body = JSON.stringify({ identifier: `user${n}@example.com`, channel: 'email' });
      const head = ['Content-Type: application/json', `Content-Length: ${body.length}`];
      const lines = ['POST /api/verify/send HTTP/1.1', 'Host: evil.example', `Edge-Connecting-IP: 203.0.113.${n}`];
      statuses.push((await sendRaw(t.url, [...lines, ...head], body)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });

  test('everything else is served under any host', async () => {
    for (const path of ['/healthz', '/readyz', '/api/status', '/pay', '/.well-known/did.json'])
      expect((await sendRaw(t.url, [`GET ${path} HTTP/1.1`, 'Host: evil.example'])).status).toBe(200);
  });
});

describe('ALLOWED_HOSTS', () => {
  const read = (path: string, host: string) => sendRaw(t.url, [`GET ${path} HTTP/1.1`, `Host: ${host}`]);

  test.each([
    'vault.internal',
    'VAULT.internal:9999',
    'other.example.com',
    'other.example.com.:80',
    'localhost',
    'x.localhost:1',
    '127.0.0.1',
    '10.1.2.3:8787',
    '[::1]:8787',
    '[2001:db8::1]',
  ])('and the own hosts, %s among them, reach metrics and console', async (host) => {
    expect((await read('/metrics', host)).status).toBe(200);
    expect((await read('/console', host)).status).toBe(200);
    expect((await read('/v1/console/overview', host)).status).toBe(401);
  });

  test('a request without Host names none of them', async () => {
    const reply = await sendRaw(t.url, ['GET /metrics HTTP/1.0']);
    expect([reply.status, answerOf(reply.text)]).toEqual(MISDIRECTED);
  });

  test('without Host the URL that a host program hands in counts', async () => {
    const ask = async (url: string) => (await t.vault.fetch(new Request(url), { peer: '127.0.0.1' })).status;
    expect(await ask('https://vault.internal/metrics')).toBe(200);
    expect(await ask('https://evil.example/metrics')).toBe(421);
  });
});

test('BASE_URL names its host', async () => {
  const own = await startVault({
    BASE_URL: 'https://vault.example.com:8443',
    ALLOW_LOG_DELIVERY: 'true',
    METRICS_ALLOW: '127.0.0.0/8',
    TRUSTED_PROXIES: 'none',
  });
  const read = (host: string) => sendRaw(own.url, ['GET /metrics HTTP/1.1', `Host: ${host}`]);
  expect((await read('vault.example.com')).status).toBe(200);
  expect((await read('example.com')).status).toBe(421);
  await own.stop();
});

test('explicit TRUSTED_PROXIES need no Host', async () => {
  const own = await startVault({ TRUSTED_PROXIES: '127.0.0.0/8' });
  const count = async (ip: string, host: string) => {
    const lines = ['GET /api/sessions/status HTTP/1.1', `Host: ${host}`, `Edge-Connecting-IP: ${ip}`];
    return JSON.parse((await sendRaw(own.url, lines)).text).ip_registrations;
  };
  await own.from('203.0.113.7').call('POST /api/sessions', { handle: 'alice', did: 'did:key:z' });
  expect(await count('203.0.113.7', 'vaults')).toBe(1);
  expect(await count('203.0.113.8', 'vaults')).toBe(0);
  await own.stop();
});

test('hosts are judged once, and callers cannot make the memory of them grow without end', () => {
  const hosts = createHosts({ baseUrl: 'https://vault.example.com', allowedHosts: [] });
  const isOwn = (host: string) => hosts.isOwn(new Request('http://x', { headers: { host } }));
  for (let n = 0; n < 5_000; n++) expect(isOwn(`h${n}.example`)).toBe(false);
  expect(isOwn('vault.example.com')).toBe(true);
});
