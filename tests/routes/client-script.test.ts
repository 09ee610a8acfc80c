import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeAll(async () => {
  t = await startVault();
});
afterAll(() => t.stop());

test('the client is served to pages of any origin, and what it loads on demand beside it', async () => {
  const { text } = await t.call('GET /client.js');
  const loaded = Array.from(text.matchAll(/import\("\.(\/[\w-]+\.js)"\)/g), ([, path = '']) => path);
  expect(loaded.sort()).toEqual([
    '/approvals.js',
    '/client-authorization.js',
    '/client-credential.js',
    '/client-events.js',
    '/client-operation.js',
    '/client-sign-in.js',
    '/payments.js',
  ]);
  for (const path of ['/client.js', ...loaded]) {
    const reply = await t.call(`GET ${path}`, {}, { origin: 'https://app.example.com' });
    expect([path, reply.status]).toEqual([path, 200]);
    expect(reply.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    expect(reply.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(reply.headers.get('cache-control')).toBe('public, max-age=600');
    const again = await t.call(`GET ${path}`, {}, { 'if-none-match': reply.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
  }
});

test('without assets it is not found', async () => {
  const bare = await startVault({}, { assets: { fetch: async () => new Response(null, { status: 404 }) } });
  expect((await bare.call('GET /client.js')).status).toBe(404);
  await bare.stop();
});
