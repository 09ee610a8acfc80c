import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { VaultError } from '../../../lib/base/error.ts';
import { BODY_TIMEOUT_MS } from '../../../routes/http/body.ts';
import { failureReply } from '../../../routes/http/response.ts';
import { sendRaw } from '../../support/raw.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

/** A vault of a public origin, without a proxy. */
const PUBLIC = { BASE_URL: 'https://vault.example.com', ALLOW_LOG_DELIVERY: 'true', TRUSTED_PROXIES: 'none' };

const send = (path: string, init: RequestInit = {}) => fetch(t.url + path, init);

test.each(['/nothing', '/api', '/api/status/', '/API/status', '/api//status', '/api/%73tatus', '/api/nothing?x=1'])(
  'unknown path %s is 404 not_found, and its preflight passes so that a page can read that',
  async (path) => {
    const reply = await send(path);
    expect([reply.status, await reply.json()]).toEqual([404, { error: 'not_found' }]);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect((await send(path, { method: 'OPTIONS' })).status).toBe(204);
  },
);

describe('request ids', () => {
  test('a plain one of the caller is kept', async () => {
    const reply = await t.call('GET /healthz', {}, { 'X-Request-Id': 'trace-1.A_b' });
    expect(reply.headers.get('x-request-id')).toBe('trace-1.A_b');
  });

  test.each(['a b', '<script>', 'ä'.repeat(3), 'a'.repeat(129)])('%s is replaced', async (id) => {
    const reply = await t.call('GET /healthz', {}, { 'X-Request-Id': encodeURI(id) === id ? id : 'a/b' });
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('bodies', () => {
  const post = (body: BodyInit, headers: Record<string, string> = { 'Content-Type': 'application/json' }) =>
    send('/api/sessions', { method: 'POST', body, headers });

  test.each(['', 'null', '[]', '"text"', '7', '{', '{"a":1}}', "{'a':1}", '['.repeat(60_000), '\u0000', '{"a":NaN}'])(
    'that is no JSON object is 400 Invalid JSON body',
    async (body) => {
      const reply = await post(body);
      expect([reply.status, await reply.json()]).toEqual([400, { error: 'Invalid JSON body' }]);
    },
  );

  test('that is no UTF-8 is 400 Invalid JSON body', async () => {
    const reply = await post(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    expect([reply.status, await reply.json()]).toEqual([400, { error: 'Invalid JSON body' }]);
  });

  const UNSUPPORTED = { error: 'Unsupported media type: send Content-Type: application/json' };
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
  ];
  test.each(types)('declared as %p is 415, also from a program', async (type) => {
    for (const path of ['/api/sessions', '/api/verify/send', '/api/dids', '/api/bundler']) {
      const reply = await send(path, { method: 'POST', body: '{}', headers: { 'Content-Type': type } });
      expect([path, reply.status, await reply.json()]).toEqual([path, 415, UNSUPPORTED]);
    }
  });

  test('without a type is read from a program, and 415 from a page, whose browser would not ask first', async () => {
    const sendBare = (...headers: string[]) =>
      sendRaw(t.url, ['POST /api/sessions HTTP/1.1', 'Host: localhost', 'Content-Length: 2', ...headers], '{}');
    for (const type of [[], ['Content-Type:']]) {
      expect((await sendBare(...type)).text).toContain('Missing required fields');
      for (const origin of ['https://evil.example', 'null']) {
        const reply = await sendBare(...type, `Origin: ${origin}`);
        expect([reply.status, JSON.parse(reply.text)]).toEqual([415, UNSUPPORTED]);
        expect(reply.headers['access-control-allow-origin']).toBe('*');
      }
    }
  });

  test('that is empty is 400 whatever its type, and a GET never 415', async () => {
    for (const type of ['text/plain', 'application/json'])
      for (const body of ['', new ReadableStream({ start: (stream) => stream.close() }) as unknown as BodyInit])
        expect((await post(body, { 'Content-Type': type })).status).toBe(400);
    expect((await send('/api/status', { headers: { 'Content-Type': 'text/plain' } })).status).toBe(200);
    const lines = ['GET /healthz HTTP/1.1', 'Host: localhost', 'Content-Type: text/plain', 'Content-Length: 2'];
    expect((await sendRaw(t.url, lines, 'hi')).status).toBe(200);
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/ld+json'])(
    'declared as %p is read',
    async (type) => {
      const reply = await post('{}', { 'Content-Type': type });
      expect(await reply.json()).toEqual({ error: 'Missing required fields: identifier, channel, did' });
    },
  );

  test('of 64 KiB is read, of one byte more is 413 payload_too_large', async () => {
    const pad = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;
    expect((await post(pad(65_536))).status).toBe(400);
    const reply = await post(pad(65_537));
    expect([reply.status, await reply.json()]).toEqual([413, { error: 'payload_too_large' }]);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  });

  test.each([
    ['of a declared length', ['Content-Length: 1000']],
    ['in chunks', ['Transfer-Encoding: chunked']],
  ])('that does not end within 20 s, %s, is 408 request_timeout', async (_, headers) => {
    const isBegun = Promise.withResolvers<void>();
    const { after } = t.clock;
    Object.assign(t.clock, {
      after(ms: number, fn: () => void) {
        if (ms === BODY_TIMEOUT_MS) isBegun.resolve();
        return after(ms, fn);
      },
    });
    const lines = ['POST /api/sessions HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', ...headers];
    let isAnswered = false;
    const asking = sendRaw(t.url, lines, '5\r\n{"a":').finally(() => {
      isAnswered = true;
    });
    await isBegun.promise;
    await t.clock.advance(BODY_TIMEOUT_MS - 1);
    expect(isAnswered).toBe(false);
    await t.clock.advance(1);
    const { status, text } = await asking;
    expect([status, JSON.parse(text)]).toEqual([408, { error: 'request_timeout' }]);
  });

  test('sent in chunks without a length is cut off at the cap', async () => {
    const chunk = new Uint8Array(16_384).fill(0x20);
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        if (++sent > 10_000) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const reply = await post(endless as unknown as BodyInit);
    expect([reply.status, await reply.json()]).toEqual([413, { error: 'payload_too_large' }]);
    expect(sent).toBeLessThan(10_000);
  });
});

describe('queries', () => {
  test('a parameter given twice is 400 Duplicate query parameter', async () => {
    const reply = await t.call('GET /api/sessions/check?identifier=a&identifier=b');
    expect([reply.status, reply.body]).toEqual([400, { error: 'Duplicate query parameter: identifier' }]);
    const unread = await t.call('GET /api/status?x=1&x=2');
    expect(unread.body).toEqual({ error: 'Duplicate query parameter: x' });
  });

  test.each([
    '/pay',
    '/pay/',
    '/pay/confirm',
    '/pay/manifest.json',
    '/pay/method-manifest.json',
    '/pay/payment-method.json',
    '/console',
    '/console/main.js',
    '/enclave.wasm',
    '/icons/vault.svg',
    '/.well-known/did.json',
  ])('%s is a page or a file: it ignores parameters it does not know', async (path) => {
    for (const query of ['a=1&a=2', 'v=1&v=2&mode=x', 'utm_source=%00&utm_source=', '%', '='])
      expect((await send(`${path}?${query}`)).status).toBe(200);
  });

  test('control characters, NUL and lone surrogates are refused, in queries and in bodies', async () => {
    for (const identifier of ['a%00b', 'a%0Ab', 'a%7Fb', 'a%C2%85b']) {
      const reply = await t.call(`GET /api/sessions/check?identifier=${identifier}`);
      expect([reply.status, reply.body]).toEqual([400, { error: 'Invalid identifier' }]);
    }
    for (const identifier of ['a\ud800b', 'a\u0000b', 'a\nb']) {
      const reply = await t.call('POST /api/sessions', { identifier, channel: 'handle', did: 'did:key:z' });
      expect([reply.status, reply.body]).toEqual([400, { error: 'Invalid identifier' }]);
    }
  });

  test('white space is invalid everywhere but around identifiers', async () => {
    const reply = await t.call('GET /api/verify/status', { identifier: 'a@example.com', channel: ' email' });
    expect(reply.status).toBe(400);
  });
});

test('an unexpected failure is 500 internal_error; the cause is in the log under the request id only', async () => {
  const fail = () => Promise.reject(Object.assign(new Error('secret detail of the engine'), { code: 'SQLITE_ERROR' }));
  const broken = await startVault({}, { database: { execute: fail, batch: fail } });
  const reply = await broken.call('GET /api/sessions/status');
  expect([reply.status, reply.body]).toEqual([500, { error: 'internal_error', hint: expect.any(String) }]);
  expect(reply.text).not.toContain('secret');
  const entry = broken.entries.find(({ event }) => event === 'request_failed');
  expect(entry).toMatchObject({ level: 'error', requestId: reply.headers.get('x-request-id') });
  expect(String(entry?.['message'])).toContain('secret detail');
  await broken.stop();
});

test('a log line a request at debug: the route, never the query or the identifier', async () => {
  await t.call('GET /api/sessions/check', { identifier: 'very-private' });
  const entry = t.entries.find(({ event }) => event === 'request');
  expect(entry).toMatchObject({ level: 'debug', method: 'GET', path: '/api/sessions/check', status: 200 });
  expect(JSON.stringify(t.entries)).not.toContain('very-private');
});

describe('request limits per client and rolling minute', () => {
  test('look-ups stop at RATE_LIMIT_READS_PER_IP with 429 rate_limited until the oldest is a minute old', async () => {
    const own = await startVault({ RATE_LIMIT_READS_PER_IP: '3' });
    const ask = () => own.call('GET /api/sessions/check', { identifier: 'alice' });
    await ask();
    await own.clock.advance(10_000);
    for (let i = 0; i < 2; i++) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect([refused.status, refused.body]).toEqual([
      429,
      { error: 'rate_limited', limit: 'reads-per-ip', retry_after: 50 },
    ]);
    expect(refused.headers.get('retry-after')).toBe('50');
    expect(refused.headers.get('ratelimit')).toBe('"reads-per-ip";r=0;t=50');
    expect((await own.from('203.0.113.7').call('GET /api/sessions/check', { identifier: 'alice' })).status).toBe(200);
    await own.clock.advance(49_999);
    expect((await ask()).status).toBe(429);
    await own.clock.advance(1);
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
    await own.stop();
  });
});

describe('§1.4 the client IP', () => {
  const attempt = async (own: TestVault, header: string) => {
    const reply = await own.call('GET /api/sessions/status', {}, { 'Edge-Connecting-IP': header });
    return reply.body.ip_registrations as number;
  };

  test('the header is believed from a trusted peer only', async () => {
    await t.from('203.0.113.7').call('POST /api/sessions', { handle: 'alice', did: 'did:key:z' });
    expect(await attempt(t, '203.0.113.7')).toBe(1);
    const distrusting = await startVault({ TRUSTED_PROXIES: '192.0.2.0/24' }, { database: t.database });
    expect(await attempt(distrusting, '203.0.113.7')).toBe(0);
    await distrusting.stop();
  });

  test('a value that is no address is ignored: the peer counts', async () => {
    await t.call('POST /api/sessions', { handle: 'alice', did: 'did:key:z' });
    for (const value of ['203.0.113.7, 10.0.0.1', 'x', '', '1.2.3', '203.0.113.7:80'])
      expect(await attempt(t, value)).toBe(1);
  });

  test('other headers never count, whatever their name', async () => {
    await t.call('POST /api/sessions', { handle: 'alice', did: 'did:key:z' });
    for (const name of ['X-Forwarded-For', 'X-Real-IP', 'Forwarded', 'CF-Connecting-IP']) {
      expect((await t.call('GET /api/sessions/status', {}, { [name]: '203.0.113.7' })).body.ip_registrations).toBe(1);
    }
  });

  test('CLIENT_IP_HEADER names another header', async () => {
    const own = await startVault({ CLIENT_IP_HEADER: 'X-Real-IP' });
    await own.call('POST /api/sessions', { handle: 'alice', did: 'did:key:z' }, { 'X-Real-IP': '203.0.113.7' });
    expect((await own.call('GET /api/sessions/status', {}, { 'X-Real-IP': '203.0.113.7' })).body.ip_registrations).toBe(
      1,
    );
    expect((await own.call('GET /api/sessions/status')).body.ip_registrations).toBe(0);
    await own.stop();
  });

  test('without a peer the header counts only where the host vouches for it, else everyone shares one bucket', async () => {
    const ask = async (own: TestVault, ip: string) => {
      const request = new Request(`${own.url}/api/sessions/status`, { headers: { 'Edge-Connecting-IP': ip } });
      return (await (await own.vault.fetch(request)).json()) as { ip_registrations: number };
    };
    const open = async (own: TestVault, ip: string, handle: string) => {
      const body = JSON.stringify({ handle, did: 'did:key:z' });
      const headers = { 'Edge-Connecting-IP': ip };
      return own.vault.fetch(
        new Request(`${own.url}/api/sessions`, {
          method: 'POST',
          body,
          headers: { ...headers, 'Content-Type': 'application/json' },
        }),
      );
    };
    await open(t, '203.0.113.7', 'alice');
    expect((await ask(t, '198.51.100.1')).ip_registrations).toBe(1);
    const vouching = await startVault({}, { trustClientIpHeader: true });
    await open(vouching, '203.0.113.7', 'alice');
    expect((await ask(vouching, '203.0.113.7')).ip_registrations).toBe(1);
    expect((await ask(vouching, '198.51.100.1')).ip_registrations).toBe(0);
    await vouching.stop();
  });
});

test('an error says its reason and its hint after the word', () => {
  const error = new VaultError('proof_invalid', { reason: 'version', hint: 'Make the proof again.' });
  expect(failureReply(error).body).toBe('{"error":"proof_invalid","reason":"version","hint":"Make the proof again."}');
  expect(failureReply(new VaultError('not_found')).body).toBe('{"error":"not_found"}');
});

test('an https origin answers everything with Strict-Transport-Security, for its own name alone (S23); a plain one nothing', async () => {
  const own = await startVault(PUBLIC);
  for (const line of ['GET /healthz', 'GET /nothing', 'PUT /healthz', 'OPTIONS /healthz', 'GET /pay', 'POST /api/dids'])
    expect((await own.call(line)).headers.get('strict-transport-security')).toBe('max-age=31536000');
  expect((await sendRaw(own.url, ['GET /healthz HTTP/1.1', 'Host: a b'])).headers).toMatchObject({
    'strict-transport-security': 'max-age=31536000',
  });
  await own.stop();
  expect((await t.call('GET /healthz')).headers.has('strict-transport-security')).toBe(false);
});
