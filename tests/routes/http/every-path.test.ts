import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ROUTES } from '../../../routes/index.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

// What every path of the table answers, whatever it does. One vault for all of them: they change nothing in it.

let t: TestVault;
beforeAll(async () => {
  t = await startVault({
    RATE_LIMIT_READS_PER_IP: '1000000',
    RATE_LIMIT_WRITES_PER_IP: '1000000',
    RATE_LIMIT_PROXY_PER_IP: '1000000',
  });
});
afterAll(() => t.stop());

const paths = [...new Set(ROUTES.map(({ path }) => path))];
/** Any page may read an answer, but of the operator's own API and of the authorization endpoint. */
const isOwn = (path: string) => path.startsWith('/v1/console/') && path !== '/v1/console/events';
const shared = (path: string) => (isOwn(path) || ['/authorize', '/authorize/code'].includes(path) ? null : '*');
const send = (path: string, init: RequestInit = {}) => fetch(t.url + path, init);

test.each(paths)('%s answers OPTIONS with 204 and what a browser may send', async (path) => {
  const reply = await send(path, { method: 'OPTIONS' });
  const own = ROUTES.filter((route) => route.path === path).map(({ method }) => method);
  expect(reply.status).toBe(204);
  expect(await reply.text()).toBe('');
  const head = own.includes('GET') ? ['HEAD'] : [];
  expect(reply.headers.get('access-control-allow-methods')).toBe([...own, ...head, 'OPTIONS'].join(', '));
  expect(reply.headers.get('access-control-allow-headers')).toBe(
    'content-type, authorization, idempotency-key, last-event-id, x-request-id, x-vault-app',
  );
  expect(reply.headers.get('access-control-max-age')).toBe('86400');
  expect(reply.headers.get('access-control-allow-origin')).toBe(shared(path));
});

test.each(paths)('%s refuses other methods with 405 and Allow', async (path) => {
  const reply = await send(path, { method: 'DELETE' });
  const own = ROUTES.filter((route) => route.path === path).map(({ method }) => method);
  expect(reply.status).toBe(405);
  expect(await reply.json()).toEqual({ error: 'method_not_allowed' });
  const head = own.includes('GET') ? ['HEAD'] : [];
  expect(reply.headers.get('allow')).toBe([...own, ...head, 'OPTIONS'].join(', '));
  expect(reply.headers.get('access-control-allow-origin')).toBe(shared(path));
});

test.each(ROUTES.filter(({ method }) => method === 'GET').map(({ path }) => path))(
  'HEAD %s has the headers of GET and no body',
  async (path) => {
    const [get, head] = [await send(path), await send(path, { method: 'HEAD' })];
    expect(head.status).toBe(get.status);
    expect(await head.text()).toBe('');
    // What is measured changes with each measurement, and so may its length.
    const changing = ['date', 'x-request-id', ...(path === '/metrics' ? ['content-length'] : [])];
    const names = [...get.headers.keys()].filter((name) => !changing.includes(name));
    for (const name of names) expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
  },
);

test.each(paths)('%s carries the security headers, CORS and a request id on every answer', async (path) => {
  for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) {
    const { headers } = await send(path, { method });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('access-control-allow-origin')).toBe(shared(path));
    expect(headers.get('access-control-expose-headers')).toBe(
      'retry-after, ratelimit, ratelimit-policy, etag, link, x-request-id, x-vault-app, idempotent-replayed',
    );
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  }
});
