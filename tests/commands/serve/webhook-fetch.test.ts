import { afterEach, describe, expect, test } from 'bun:test';
import { createGuardedFetch } from '../../../commands/serve/webhook-fetch.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { callUpstream } from '../../../lib/base/http-client.ts';
import { settled } from '../../support/settled.ts';
import { TEST_AUTHORITY, TEST_CERTIFICATES } from '../../support/tls.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server with TLS that says under which address and name it was asked. */
function startTls(hostname: string, name: keyof typeof TEST_CERTIFICATES, port = 0) {
  let asked = 0;
  const server = Bun.serve({
    hostname,
    port,
    tls: TEST_CERTIFICATES[name],
    async fetch(request) {
      asked++;
      return Response.json({
        at: hostname,
        host: request.headers.get('host'),
        url: request.url,
        body: await request.text(),
      });
    },
  });
  ends.push(() => server.stop(true));
  return { port: Number(server.port), asked: () => asked };
}

/** A resolver that answers with the next list each time, and the last one from then on. */
function resolver(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolve = async (hostname: string) => {
    asked.push(hostname);
    return answers[Math.min(asked.length, answers.length) - 1] ?? [];
  };
  return { resolve, asked };
}

const LIMITS = { timeoutMs: 5_000, maxBytes: 10_000 };
const post = (fetch: ReturnType<typeof createGuardedFetch>, url: string) =>
  callUpstream(
    { fetch, clock: systemClock },
    { url, method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'hello' },
    LIMITS,
  );

describe('a name with TLS', () => {
  test('is resolved once and connected to at that address; certificate, name and path stay the host’s', async () => {
    const { port } = startTls('127.0.0.1', 'hooks.example');
    const { resolve, asked } = resolver(['127.0.0.1']);
    const guarded = createGuardedFetch({ allowPrivate: true, resolve, ca: TEST_AUTHORITY });
    const { status, text } = await post(guarded, `https://hooks.example:${port}/a/b?c=d`);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({
      at: '127.0.0.1',
      host: `hooks.example:${port}`,
      url: `https://hooks.example:${port}/a/b?c=d`,
      body: 'hello',
    });
    expect(asked).toEqual(['hooks.example']);
  });

  test('that shows another’s certificate is not spoken to', async () => {
    const { port, asked } = startTls('127.0.0.1', 'other.example');
    const guarded = createGuardedFetch({
      allowPrivate: true,
      resolve: resolver(['127.0.0.1']).resolve,
      ca: TEST_AUTHORITY,
    });
    expect(await settled(post(guarded, `https://hooks.example:${port}/`))).toThrow(
      'unreachable (ERR_TLS_CERT_ALTNAME_INVALID)',
    );
    expect(asked()).toBe(0);
  });

  test('whose authority nobody knows is not spoken to', async () => {
    const { port, asked } = startTls('127.0.0.1', 'hooks.example');
    const guarded = createGuardedFetch({ allowPrivate: true, resolve: resolver(['127.0.0.1']).resolve });
    expect(await settled(post(guarded, `https://hooks.example:${port}/`))).toThrow(/^unreachable/);
    expect(asked()).toBe(0);
  });
});

describe('rebinding', () => {
  test('a name that changes its address between check and connection is met at the address that was checked', async () => {
    const outside = startTls('127.0.0.1', 'hooks.example');
    const inside = startTls('127.0.0.2', 'hooks.example', outside.port);
    // The first address stands for a public one, the second for one inside.
    const { resolve, asked } = resolver(['127.0.0.1'], ['127.0.0.2']);
    const guarded = createGuardedFetch({
      allowPrivate: false,
      allows: (address) => address === '127.0.0.1',
      resolve,
      ca: TEST_AUTHORITY,
    });
    const url = `https://hooks.example:${outside.port}/`;
    expect((await post(guarded, url)).status).toBe(200);
    expect(asked).toHaveLength(1);
    expect(await settled(post(guarded, url))).toThrow('unreachable (address refused)');
    expect([outside.asked(), inside.asked()]).toEqual([1, 0]);
  });

  test('of several addresses only those that may be reached are tried', async () => {
    const outside = startTls('127.0.0.1', 'hooks.example');
    const inside = startTls('127.0.0.2', 'hooks.example', outside.port);
    const { resolve } = resolver(['127.0.0.2', '127.0.0.3', '127.0.0.1']);
    const guarded = createGuardedFetch({
      allowPrivate: false,
      allows: (address) => address !== '127.0.0.2',
      resolve,
      ca: TEST_AUTHORITY,
    });
    // Nobody listens at the second one, so that the third is tried.
    expect((await post(guarded, `https://hooks.example:${outside.port}/`)).status).toBe(200);
    expect(inside.asked()).toBe(0);
  });
});

describe('by the rule that holds outside tests', () => {
  test.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '::1'],
    ['private', '10.0.0.1'],
    ['metadata', '169.254.169.254'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['IPv4-mapped', '::ffff:127.0.0.1'],
    ['CGNAT', '100.64.0.1'],
  ])('%s (%s) is refused, by name or as it is', async (_, address) => {
    const guarded = createGuardedFetch({ allowPrivate: false, resolve: resolver([address]).resolve });
    expect(await settled(post(guarded, 'https://hooks.example/'))).toThrow('unreachable (address refused)');
    const bySystem = createGuardedFetch({ allowPrivate: false });
    const host = address.includes(':') ? `[${address}]` : address;
    expect(await settled(post(bySystem, `https://${host}/`))).toThrow('unreachable (address refused)');
  });

  test('localhost of the system’s own resolver is refused, and with WEBHOOK_ALLOW_PRIVATE reached, in the clear too', async () => {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request) => new Response(request.headers.get('host')),
    });
    ends.push(() => server.stop(true));
    const url = `http://localhost:${server.port}/`;
    expect(await settled(post(createGuardedFetch({ allowPrivate: false }), url))).toThrow(
      'unreachable (address refused)',
    );
    expect((await post(createGuardedFetch({ allowPrivate: true }), url)).text).toBe(`localhost:${server.port}`);
  });

  test('a name that does not resolve, or to nothing, is unreachable', async () => {
    const none = createGuardedFetch({ allowPrivate: true, resolve: async () => [] });
    expect(await settled(post(none, 'https://hooks.example/'))).toThrow('unreachable (address refused)');
    const failing = createGuardedFetch({
      allowPrivate: true,
      resolve: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
    });
    expect(await settled(post(failing, 'https://hooks.example/'))).toThrow('unreachable (ENOTFOUND)');
  });
});
