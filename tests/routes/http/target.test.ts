import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { sendRaw } from '../../support/raw.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

const sessions = async () => (await t.call('GET /api/sessions/status')).body.ip_registrations;
const errors = () => t.entries.filter(({ level }) => level === 'error');
const session = JSON.stringify({ handle: 'alice', did: 'did:key:z' });
const sessionHeaders = ['Content-Type: application/json', `Content-Length: ${session.length}`];

describe('§1.1 a request of HTTP/1.0 without Host is routed by its own path', () => {
  const ask = (line: string) => sendRaw(t.url, [`${line} HTTP/1.0`]);

  test.each<[string, number, string]>([
    ['/healthz', 200, '"ok":true'],
    ['/readyz', 200, '"ok":true'],
    ['/api/status', 200, '"database":"connected"'],
    ['/api/status?x=1', 200, '"database":"connected"'],
    ['http://elsewhere.example/healthz', 200, '"ok":true'],
    ['/x/healthz', 404, '{"error":"not_found"}'],
    ['/anything/api/status', 404, '{"error":"not_found"}'],
    ['/public/metrics', 404, '{"error":"not_found"}'],
    ['/', 200, '"links":{'],
    ['/?x=1', 200, '"links":{'],
    ['//', 404, '{"error":"not_found"}'],
    ['//healthz', 404, '{"error":"not_found"}'],
    ['//x/healthz', 404, '{"error":"not_found"}'],
    ['/x?y=http://z/healthz', 404, '{"error":"not_found"}'],
    ['/api/indexer/nothing', 403, '{"error":"path_not_allowed"}'],
    ['/x/api/indexer/nothing', 404, '{"error":"not_found"}'],
    ['/api/status?x=1&x=2', 400, '{"error":"Duplicate query parameter: x"}'],
    ['/api/sessions/check', 400, '{"error":"Missing query parameters: identifier"}'],
  ])('GET and HEAD %s: %i', async (path, status, text) => {
    const reply = await ask(`GET ${path}`);
    expect(reply.status).toBe(status);
    expect(reply.text).toContain(text);
    const head = await ask(`HEAD ${path}`);
    expect([head.status, head.text]).toEqual([status, '']);
    expect(errors()).toEqual([]);
  });

  test('its query is read', async () => {
    const { text } = await ask('GET /api/sessions/check?identifier=ali%63e');
    expect(JSON.parse(text)).toMatchObject({ identifier: 'alice', available: true });
    const opener = async (path: string) => (await ask(`GET ${path}`)).headers['cross-origin-opener-policy'];
    expect(await opener('/pay/confirm')).toBe('same-origin');
    expect(await opener('/pay/confirm?mode=popup')).toBe('unsafe-none');
  });

  test('a session is written by its own path alone', async () => {
    const post = (path: string) => sendRaw(t.url, [`POST ${path} HTTP/1.0`, ...sessionHeaders], session);
    for (const path of ['/x/api/sessions', '//api/sessions', '//']) expect((await post(path)).status).toBe(404);
    expect((await post('/')).status).toBe(405);
    expect(await sessions()).toBe(0);
    expect((await post('/api/sessions')).status).toBe(200);
    expect(await sessions()).toBe(1);
  });

  test('its preflight passes', async () => {
    const { status, headers } = await ask('OPTIONS /api/sessions');
    expect([status, headers['access-control-allow-methods']]).toEqual([204, 'POST, OPTIONS']);
    expect((await ask('OPTIONS /x/api/sessions')).status).toBe(204);
  });

  test('what fails is logged under its path, without the query', async () => {
    const fail = () => Promise.reject(new Error('away'));
    const broken = await startVault({}, { database: { execute: fail, batch: fail } });
    const { status } = await sendRaw(broken.url, ['GET /api/sessions/status?private=1 HTTP/1.0']);
    const entry = broken.entries.find(({ event }) => event === 'request_failed');
    expect([status, entry?.['path']]).toEqual([503, '/api/sessions/status']);
    await broken.stop();
  });
});

test('§1.1 a flood of unreadable hosts leaves nothing in the log, and one line each at debug', async () => {
  const send = (own: TestVault) => sendRaw(own.url, ['GET /healthz HTTP/1.1', 'Host: a@b']);
  const quiet = await startVault({ LOG_LEVEL: 'info' });
  for (let n = 0; n < 100; n++) expect((await send(quiet)).status).toBe(400);
  expect(quiet.entries).toEqual([]);
  await quiet.stop();
  for (let n = 0; n < 3; n++) await send(t);
  expect(t.entries.map(({ level, event }) => `${level} ${event}`)).toEqual(Array(3).fill('debug request'));
});

describe('§1.1 the Host header', () => {
  const WRONG = ['', 'a b', 'x/y', 'x/y?z', 'x?z', '/', 'u@h', 'u:p@h', '@', 'h#f', '#', 'h\\x', 'h:x', 'h:1:2', ':80'];
  const ODD = ['::1', '[::1', '::1]', '[]', '[h]', '[::1]x', '<h>', 'h"', 'ä.example', 'h\tx', 'h:123456', 'h, h'];
  const PATHS = ['/healthz', '/', '/nothing', '/api/indexer/nothing', '/api/status?x=1'];

  test.each([...WRONG, ...ODD])('%p is 400 Invalid Host header on every path, by every method', async (host) => {
    for (const version of ['1.0', '1.1']) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
        for (const path of PATHS) {
          const reply = await sendRaw(t.url, [`${method} ${path} HTTP/${version}`, `Host: ${host}`]);
          const body = method === 'HEAD' ? '' : '{"error":"Invalid Host header"}';
          expect([method, path, reply.status, reply.text]).toEqual([method, path, 400, body]);
          expect(reply.headers['access-control-allow-origin']).toBe('*');
          expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
        }
      }
      const head = [`POST /api/sessions HTTP/${version}`, `Host: ${host}`, ...sessionHeaders];
      expect((await sendRaw(t.url, head, session)).status).toBe(400);
    }
    expect(await sessions()).toBe(0);
    expect(errors()).toEqual([]);
  });

  test.each([
    ['h'],
    ['vault.example.com'],
    ['VAULT.example.com.'],
    ['vault_1.internal:8787'],
    ['xn--bcher-kva.example'],
    ['127.0.0.1'],
    ['127.0.0.1:8787'],
    ['[::1]'],
    ['[2001:DB8::1]:8787'],
    ['[::ffff:127.0.0.1]:80'],
    ['h:'],
    // Names that no URL can hold; nothing here makes one of them.
    ['999.1.1.1'],
    ['xn--a'],
    ['h:99999'],
  ])('%s is taken', async (host) => {
    for (const version of ['1.0', '1.1']) {
      const ask = (line: string) => sendRaw(t.url, [`${line} HTTP/${version}`, `Host: ${host}`]);
      expect((await ask('GET /healthz')).status).toBe(200);
      expect((await ask('HEAD /')).status).toBe(200);
      expect((await ask('HEAD /nothing')).status).toBe(404);
      expect((await ask('GET /x/healthz')).status).toBe(404);
      expect((await ask('GET /api/indexer/nothing')).status).toBe(403);
      expect((await ask('GET /pay/confirm?mode=popup')).headers['cross-origin-opener-policy']).toBe('unsafe-none');
    }
    expect(errors()).toEqual([]);
  });

  test('two of them, or none in HTTP/1.1, never reach a route', async () => {
    for (const hosts of [['a', 'b'], ['a', 'a'], ['a', ''], ['', 'a'], []]) {
      const head = ['POST /api/sessions HTTP/1.1', ...hosts.map((host) => `Host: ${host}`), ...sessionHeaders];
      expect((await sendRaw(t.url, head, session)).status).toBe(400);
    }
    expect(await sessions()).toBe(0);
  });
});
