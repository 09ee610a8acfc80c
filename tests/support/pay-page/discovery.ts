import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page, Target } from 'puppeteer-core';
import type { OwnBrowser } from '../../../scripts/dev-stack/browser.ts';
import { awaitSelector, buy, closeWindows, confirmWindow, startShop } from '../pay.ts';
import { until } from '../until.ts';
import { startVault, type TestVault } from '../vault.ts';

/** What somebody might serve instead of what the vault does; undefined leaves an answer as it is. */
type Spoil = (path: string, method: string, answer: Response) => Response | undefined | Promise<Response>;

const headersWithout = (answer: Response, name: string): Headers => {
  const headers = new Headers(answer.headers);
  headers.delete(name);
  return headers;
};
const rewrite =
  (path: string, change: (body: Record<string, unknown>) => unknown): Spoil =>
  async (asked, method, answer) => {
    if (asked !== path || method !== 'GET') return answer;
    const headers = headersWithout(answer, 'content-length');
    return new Response(JSON.stringify(change(JSON.parse(await answer.text()))), { headers });
  };

/** The tests of what Chromium asks of a vault before it shows its window: what it would refuse, no vault does. */
export function testDiscovery(browserOf: () => OwnBrowser): void {
  let own: OwnBrowser;
  let shop: ReturnType<typeof startShop>;
  let page: Page;
  beforeAll(async () => {
    own = browserOf();
    shop = startShop();
    page = await own.browser.newPage();
    await page.goto(shop.url);
  });
  afterAll(async () => {
    await page.close();
    await shop.stop();
  });

  /** A vault on an origin of its own, some of whose answers are spoilt. */
  const serve = async (spoil: Spoil = () => undefined) => {
    let vault: TestVault | undefined;
    const asked = new Set<string>();
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { pathname, search } = new URL(request.url);
        const { method } = request;
        asked.add(pathname);
        const answer = await fetch(`${vault?.url}${pathname}${search}`, {
          method,
          redirect: 'manual',
          headers: { 'accept-encoding': 'identity' },
        });
        return (await spoil(pathname, method, answer.clone())) ?? answer;
      },
    });
    const origin = `http://localhost:${server.port}`;
    vault = await startVault({ BASE_URL: origin });
    const stop = async () => {
      await server.stop(true);
      await vault?.stop();
    };
    return { origin, asked, stop };
  };

  const canPay = (method: string) =>
    page.evaluate(
      (supportedMethods) =>
        new PaymentRequest([{ supportedMethods }], {
          total: { label: 'Total', amount: { currency: 'USD', value: '1' } },
        }).canMakePayment(),
      method,
    );

  test('as it is served, it is found', async () => {
    const { origin, stop } = await serve();
    for (const path of ['/pay', '/pay/', '/.well-known/payment-method-manifest', '/pay/payment-method.json']) {
      expect([path, await canPay(origin + path)]).toEqual([path, true]);
    }
    await stop();
  });

  test.each<[string, Spoil, string?]>([
    [
      'HEAD is refused',
      (path, method) => (path === '/pay' && method === 'HEAD' ? new Response(null, { status: 405 }) : undefined),
    ],
    [
      'there is no Link',
      (path, _, answer) =>
        path === '/pay' ? new Response(null, { headers: headersWithout(answer, 'link') }) : undefined,
    ],
    [
      'the Link is on the redirect alone',
      (path, _, answer) => {
        if (path === '/pay/payment-method.json') return new Response('{}', { headers: headersWithout(answer, 'link') });
        if (!path.startsWith('/.well-known')) return undefined;
        const headers = new Headers(answer.headers);
        headers.set('link', '</pay/method-manifest.json>; rel="payment-method-manifest"');
        return new Response(null, { status: 302, headers });
      },
      '/.well-known/payment-method-manifest',
    ],
    [
      'the manifest is redirected',
      (path) =>
        path === '/pay/method-manifest.json'
          ? new Response(null, { status: 302, headers: { location: '/pay/payment-method.json' } })
          : undefined,
    ],
    [
      'the manifest names its application by an object',
      rewrite('/pay/method-manifest.json', (body) => ({
        ...body,
        default_applications: [{ platform: 'webapp', manifest_url: '/pay/manifest.json' }],
      })),
    ],
    ['any origin is supported', rewrite('/pay/method-manifest.json', (body) => ({ ...body, supported_origins: '*' }))],
    ['there are no icons', rewrite('/pay/manifest.json', (body) => ({ ...body, icons: [] }))],
    ['the icons are missing', (path) => (path.startsWith('/icons/') ? new Response(null, { status: 404 }) : undefined)],
    [
      'there is an empty list of delegations',
      rewrite('/pay/manifest.json', (body) => ({ ...body, payment: { supported_delegations: [] } })),
    ],
    [
      'the answer is for its own origin alone',
      (path, _, answer) => {
        if (path !== '/pay') return undefined;
        const headers = new Headers(answer.headers);
        headers.set('cross-origin-resource-policy', 'same-origin');
        return new Response(null, { headers });
      },
    ],
  ])('%s', async (_, spoil, path = '/pay') => {
    const { origin, stop } = await serve(spoil);
    expect(await canPay(origin + path)).toBe(false);
    await stop();
  });

  test('no window opens where the application has no name, its scope is all of the origin, or the worker is plain text', async () => {
    const cases: readonly (readonly [string, Spoil])[] = [
      ['/pay/manifest.json', rewrite('/pay/manifest.json', ({ name: _, ...body }) => body)],
      [
        '/pay/manifest.json',
        rewrite('/pay/manifest.json', (body) => ({ ...body, serviceworker: { src: '/pay/sw.js', scope: '/' } })),
      ],
      [
        '/pay/sw.js',
        async (path, _, answer) =>
          path === '/pay/sw.js'
            ? new Response(await answer.text(), { headers: { 'content-type': 'text/plain' } })
            : answer,
      ],
    ];
    const seen: string[] = [];
    const note = (target: Target) => seen.push(target.url());
    for (const event of ['targetcreated', 'targetchanged'] as const) own.browser.on(event, note);
    // A profile shows one request at a time.
    const spoilt = await Promise.all(
      cases.map(async ([path, spoil]) => {
        const context = await own.browser.createBrowserContext();
        const customer = await context.newPage();
        await customer.goto(shop.url);
        return { path, context, customer, ...(await serve(spoil)) };
      }),
    );
    for (const { path, customer, origin, asked } of spoilt) {
      await buy(customer, { method: `${origin}/pay`, data: {} });
      await until(`${path} at ${origin}`, () => asked.has(path));
    }
    // Another profile shows a request of its own at the same time: as long as that window takes, these get.
    const honest = await serve();
    await buy(page, { method: `${honest.origin}/pay`, data: {} });
    await confirmWindow({ own });
    const origins = spoilt.map(({ origin }) => origin);
    expect(seen.filter((url) => origins.some((origin) => url.startsWith(origin)))).toEqual([]);
    for (const event of ['targetcreated', 'targetchanged'] as const) own.browser.off(event, note);
    // A request ends with the page that asked.
    for (const { context } of spoilt) await context.close();
    await page.reload();
    await closeWindows({ own });
    for (const { stop } of [...spoilt, honest]) await stop();
  });

  test("a shop whose policy does not name the vault cannot ask, and the vault's own policies stop nobody", async () => {
    const { origin, stop } = await serve();
    shop.pages.set('/strict', `<meta http-equiv="content-security-policy" content="connect-src 'self'">`);
    shop.pages.set(
      '/named',
      `<meta http-equiv="content-security-policy" content="connect-src ${origin}"><button id="buy">`,
    );
    await page.goto(`${shop.url}/strict`);
    expect(await canPay(`${origin}/pay`).catch((error: Error) => error.message)).toContain('Content Security Policy');
    await page.goto(`${shop.url}/named`);
    await buy(page, { method: `${origin}/pay`, data: { to: 'nobody' } });
    const confirm = await confirmWindow({ own });
    await awaitSelector(confirm, '#problem');
    await stop();
  });
}
