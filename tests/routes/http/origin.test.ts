import { afterEach, beforeEach, expect, test } from 'bun:test';
import { OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ ALLOWED_ORIGINS: 'https://app.example.com, capacitor://app, http://intranet:8080/' });
});
afterEach(() => t.stop());

const body = { handle: 'alice', did: 'did:key:z' };
const own = () => t.url.replace('127.0.0.1', 'localhost');

test('ALLOWED_ORIGINS: a page of another origin cannot POST, and reads why', async () => {
  const strangers = ['https://evil.example', 'https://app.example.com.evil.example', 'https://sub.app.example.com'];
  for (const Origin of [...strangers, 'http://app.example.com', 'https://app.example.com:444', 'null', '']) {
    for (const line of ['POST /api/sessions', 'POST /api/verify/send', 'POST /api/dids', 'POST /api/bundler']) {
      const reply = await t.call(line, body, { Origin });
      expect([Origin, reply.status, reply.body.error]).toEqual([Origin, 403, 'origin_not_allowed']);
      expect(reply.body.hint).toContain('ALLOWED_ORIGINS');
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    }
    expect((await t.call('POST /v1/console/token', { app: 'default' }, { ...OPERATOR, Origin })).status).toBe(403);
  }
  expect((await t.call('GET /api/sessions/status')).body.ip_registrations).toBe(0);
});

test('ALLOWED_ORIGINS: listed origins, the own one and programs can POST, and anyone can read', async () => {
  const post = (handle: string, headers: Record<string, string>) =>
    t.from(`203.0.113.${handle.length}`).call('POST /api/sessions', { ...body, handle }, headers);
  expect((await post('a', {})).status).toBe(200);
  expect((await post('bb', { Origin: 'https://app.example.com' })).status).toBe(200);
  expect((await post('ccc', { Origin: 'capacitor://app' })).status).toBe(200);
  expect((await post('dddd', { Origin: 'http://intranet:8080' })).status).toBe(200);
  expect((await post('eeeee', { Origin: own() })).status).toBe(200);
  expect((await t.call('GET /api/status', {}, { Origin: 'https://evil.example' })).status).toBe(200);
  expect((await t.call('OPTIONS /api/sessions', {}, { Origin: 'https://evil.example' })).status).toBe(204);
});

test('without ALLOWED_ORIGINS every origin can POST', async () => {
  const open = await startVault();
  expect((await open.call('POST /api/sessions', body, { Origin: 'https://evil.example' })).status).toBe(200);
  await open.stop();
});

test('ALLOWED_ORIGINS: a form of the own pages, whose origin browsers hide, can POST; a stranger cannot say so', async () => {
  const form = (headers: Record<string, string>) => t.call('POST /api/sessions', body, { Origin: 'null', ...headers });
  expect((await form({ 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
  expect((await form({ 'Sec-Fetch-Site': 'same-origin', Host: 'evil.example' })).status).toBe(403);
  expect((await form({ 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
});

test('RFC 9700 2.6: no page of another origin reads what the authorization endpoint answers', async () => {
  for (const line of ['GET /authorize', 'POST /authorize/code', 'OPTIONS /authorize/code'])
    for (const Origin of ['https://evil.example', 'https://app.example.com']) {
      const { headers } = await t.call(line, { request: 'x', fresh: true }, { Origin });
      expect([line, headers.get('access-control-allow-origin')]).toEqual([line, null]);
    }
});
