import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { OFFERS_ALL, OFFERS_HOST } from '../support/landing.ts';
import { expectQuietPage } from '../support/strict-page.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeAll(async () => {
  t = await startVault({ BASE_URL: 'https://vault.example.com', TRUSTED_PROXIES: 'none', ALLOW_LOG_DELIVERY: 'true' });
});
afterAll(() => t.stop());

/** What a browser sends for a page. */
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('GET /', () => {
  test('is a page for browsers, by GET and by HEAD', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await t.call(`${method} /`, {}, BROWSER);
      expect([status, headers.get('content-type'), headers.get('cache-control'), headers.get('vary')]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-cache',
        'accept-encoding, accept',
      ]);
    }
    const { headers } = await t.call('GET /?utm_source=anyone', {}, BROWSER);
    const again = { ...BROWSER, 'If-None-Match': headers.get('etag') ?? '' };
    expect((await t.call('GET /', {}, again)).status).toBe(304);
  });

  test('nobody frames the page, nothing comes from elsewhere, nothing is inline, and it runs no WebAssembly', async () => {
    const page = await t.call('GET /', {}, BROWSER);
    expectQuietPage(page);
    expect(page.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  test('is JSON for programs, whatever they accept', async () => {
    for (const accept of ['application/json', '*/*', 'text/plain']) {
      const { status, headers, body } = await t.call('GET /', {}, { Accept: accept });
      expect([status, headers.get('content-type'), headers.get('vary')]).toEqual([200, 'application/json', 'accept']);
      expect(body).toEqual({
        name: 'vault.example.com',
        url: 'https://vault.example.com',
        links: {
          account: null,
          pay: null,
          openid: null,
          console: '/console',
          api: '/openapi.json',
          client: '/client.js',
          status: '/api/status',
          security: null,
        },
      });
    }
  });

  test('names what the settings offer, and leads nowhere else', async () => {
    const own = await startVault(OFFERS_ALL, OFFERS_HOST);
    const { body } = await own.call('GET /');
    expect(body.name).toBe('Tea House');
    expect(body.links).toMatchObject({
      account: '/account',
      pay: '/pay',
      openid: '/.well-known/openid-configuration',
      security: '/.well-known/security.txt',
    });
    for (const path of Object.values(body.links))
      expect([path, (await own.call(`GET ${path}`)).status]).toEqual([path, 200]);
    await own.stop();
  });

  test('has no console where that has a listener of its own', async () => {
    const own = await startVault({ ADMIN_PORT: '9999' });
    expect((await own.call('GET /')).body.links.console).toBeNull();
    await own.stop();
  });
});

describe('a path where nothing is', () => {
  test('404 not_found: a page for browsers, by GET and by HEAD', async () => {
    for (const path of ['/nothing', '/console/nothing', '/api/nothing', '/authorize']) {
      const { status, headers, text } = await t.call(`GET ${path}`, {}, BROWSER);
      expect([path, status, headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8']);
      expect([headers.get('cache-control'), headers.get('vary')]).toEqual(['no-store', 'accept']);
      expect(text).toContain('There is no page here');
    }
    const page = await t.call('GET /nothing', {}, BROWSER);
    expectQuietPage(page);
    const { status, text } = await t.call('HEAD /nothing', {}, BROWSER);
    expect([status, text]).toEqual([404, '']);
  });

  test('404 not_found: JSON for programs, for operations, and for what is no visit', async () => {
    const answers = await Promise.all([
      ...['application/json', '*/*', 'text/css,*/*;q=0.1', 'application/json, text/html'].map((Accept) =>
        t.call('GET /nothing', {}, { Accept }),
      ),
      t.call('POST /nothing', {}, BROWSER),
      t.call('GET /api/dids/lookup?credentialId=AAAAAAAAAAAAAAAAAAAAAA', {}, BROWSER),
    ]);
    for (const { status, text } of answers) expect([status, text]).toEqual([404, '{"error":"not_found"}']);
  });

  test('404 not_found: JSON at the listener of ADMIN_PORT, which serves no style of pages', async () => {
    const own = await startVault({ ADMIN_PORT: '9999' });
    const ask = (admin: boolean) =>
      own.vault.fetch(new Request(`${own.url}/nothing`, { headers: BROWSER }), { admin, peer: '127.0.0.1' });
    const types = [await ask(true), await ask(false)].map(({ headers }) => headers.get('content-type'));
    expect(types).toEqual(['application/json', 'text/html; charset=utf-8']);
    await own.stop();
  });
});

test.each([
  ['/landing/landing.js', 'text/javascript; charset=utf-8'],
  ['/landing/landing.css', 'text/css; charset=utf-8'],
])('%s of the landing page is served', async (path, type) => {
  const { status, headers } = await t.call(`GET ${path}`);
  expect([status, headers.get('content-type')]).toEqual([200, type]);
});

test('/favicon.ico is an icon: a directory of one entry, and the PNG', async () => {
  const response = await fetch(`${t.url}/favicon.ico`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/x-icon']);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const view = new DataView(bytes.buffer);
  const [type, count, length, at] = [2, 4]
    .map((i) => view.getUint16(i, true))
    .concat([14, 18].map((i) => view.getUint32(i, true)));
  expect([type, count, bytes[6], bytes[7], length, at]).toEqual([1, 1, 48, 48, bytes.length - 22, 22]);
  expect([...bytes.slice(22, 30)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10]);
  // The PNG says the same size.
  expect([view.getUint32(22 + 16), view.getUint32(22 + 20)]).toEqual([48, 48]);
});

test('/robots.txt lets crawlers read the landing page alone', async () => {
  const { status, headers, text } = await t.call('GET /robots.txt');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(text).toBe('User-agent: *\nAllow: /$\nDisallow: /\n');
});
