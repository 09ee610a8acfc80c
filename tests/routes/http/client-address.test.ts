import { afterEach, describe, expect, test } from 'bun:test';
import { startVault, type TestVault } from '../../support/vault.ts';

const vaults: TestVault[] = [];
afterEach(async () => {
  for (const vault of vaults.splice(0)) await vault.stop();
});

async function start(...args: Parameters<typeof startVault>): Promise<TestVault> {
  const vault = await startVault(...args);
  vaults.push(vault);
  return vault;
}

const warnings = (t: TestVault) => t.entries.filter(({ level }) => level === 'warn').map(({ event }) => event);
const send = { identifier: 'alice@example.com', channel: 'email' };

describe('a host that hands in no peer', () => {
  const ask = (t: TestVault, headers: Record<string, string> = {}) =>
    t.vault.fetch(new Request(`${t.url}/api/sessions/status`, { headers }));

  test('has one warning in the log, at the first request', async () => {
    const t = await start();
    expect(warnings(t)).toEqual([]);
    await ask(t);
    expect(warnings(t)).toEqual(['client_unknown']);
    for (let n = 0; n < 5; n++) await ask(t, { 'Edge-Connecting-IP': '203.0.113.1' });
    expect(warnings(t)).toEqual(['client_unknown']);
    expect(String(t.entries.find(({ event }) => event === 'client_unknown')?.['message'])).toContain('embedding.md');
  });

  test('has none where it vouches for the header, unless the header does not come', async () => {
    const t = await start({}, { trustClientIpHeader: true });
    await ask(t, { 'Edge-Connecting-IP': '203.0.113.1' });
    expect(warnings(t)).toEqual([]);
    const body = JSON.stringify(send);
    const headers = { 'Content-Type': 'application/json' };
    await t.vault.fetch(new Request(`${t.url}/api/verify/send`, { method: 'POST', body, headers }));
    expect(warnings(t)).toEqual(['proxy_names_no_client']);
  });
});

describe('a trusted proxy that names no client', () => {
  test('has one warning, with its address and the header', async () => {
    const t = await start({ TRUSTED_PROXIES: '127.0.0.1/32' });
    await t.call('POST /api/verify/send', send, { 'Edge-Connecting-IP': '203.0.113.1' });
    expect(warnings(t)).toEqual([]);
    await t.call('POST /api/verify/send', send);
    await t.call('POST /api/verify/send', send, { 'Edge-Connecting-IP': '203.0.113.1, 10.0.0.1' });
    expect(warnings(t)).toEqual(['proxy_names_no_client']);
    const entry = t.entries.find(({ event }) => event === 'proxy_names_no_client');
    expect([entry?.['peer'], String(entry?.['message'])]).toEqual([
      '127.0.0.1',
      expect.stringContaining('Edge-Connecting-IP'),
    ]);
  });

  test('has none for health checks and for the operator beside it, nor by default in development', async () => {
    const t = await start({ TRUSTED_PROXIES: '127.0.0.1/32' });
    for (const line of ['GET /healthz', 'GET /readyz', 'GET /metrics', 'GET /console', 'POST /v1/console/token'])
      await t.call(line);
    expect(warnings(t)).toEqual([]);
    const development = await start();
    await development.call('POST /api/verify/send', send);
    expect(warnings(development)).toEqual([]);
  });
});

describe('a private peer that is not trusted', () => {
  const forwarded = { 'X-Forwarded-For': '203.0.113.1' };

  test('has one warning when it forwards', async () => {
    const t = await start({ TRUSTED_PROXIES: 'none' });
    await t.call('GET /api/status');
    expect(warnings(t)).toEqual([]);
    for (let n = 0; n < 3; n++) await t.call('GET /api/status', {}, forwarded);
    expect(warnings(t)).toEqual(['proxy_not_trusted']);
    const entry = t.entries.find(({ event }) => event === 'proxy_not_trusted');
    expect([entry?.['peer'], String(entry?.['message'])]).toEqual([
      '127.0.0.1',
      expect.stringContaining('TRUSTED_PROXIES'),
    ]);
  });

  test('has one when it sends CLIENT_IP_HEADER, which is not believed', async () => {
    const t = await start({ TRUSTED_PROXIES: '192.0.2.0/24' });
    await t.call('GET /api/status', {}, { 'Edge-Connecting-IP': '203.0.113.1' });
    expect(warnings(t)).toEqual(['proxy_not_trusted']);
  });

  test('a public peer may send what it likes: nothing is logged', async () => {
    const t = await start({ TRUSTED_PROXIES: 'none' });
    const headers = { ...forwarded, 'Edge-Connecting-IP': '203.0.113.1' };
    for (const peer of ['8.8.8.8', '2606:4700::1111'])
      await t.vault.fetch(new Request(`${t.url}/api/status`, { headers }), { peer });
    expect(warnings(t)).toEqual([]);
  });
});
