import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { BrowserContext, Page } from 'puppeteer-core';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { awaitSelector, createPasskeys, findAccount, makeNew, type Passkeys, part, press } from '../support/pay.ts';
import { type ServedPages, servePayPages } from '../support/pay-page/serve.ts';
import { TEST_CERTIFICATES } from '../support/tls.ts';

/** The host on which people made their passkeys, and the one that the vault moves to. */
const [OLD, NEW] = ['hooks.example', 'other.example'] as const;

/** What a vault behind a proxy needs, without providers of codes. */
const PUBLIC = { TRUSTED_PROXIES: '127.0.0.1/32', EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' };

describe.skipIf(!chromium)('a vault that moved to another host, as docs/operating.md says', () => {
  let own: OwnBrowser;
  let pages: ServedPages | undefined;
  const contexts: BrowserContext[] = [];
  const proxies = { [OLD]: startProxy(OLD), [NEW]: startProxy(NEW) };
  const passkeys = createPasskeys();
  let account: string;

  beforeAll(async () => {
    // Names lead to loopback, port 443 included, where browsers look for related origins.
    const rules = [OLD, NEW].map((host) => `MAP ${host}:443 127.0.0.1:${proxies[host].port}`);
    own = await startShell('--ignore-certificate-errors', `--host-resolver-rules=${rules.join(', ')}`);
    await serve({ BASE_URL: `https://${OLD}` });
    leadTo(OLD);
    const page = await pageOn(OLD, passkeys);
    await makeNew(page);
    await part(page, 'review');
    account = await page.$eval('#from', (element) => element.textContent ?? '');
    // It moves, and its old host goes on serving the document of related origins.
    await serve({ BASE_URL: `https://${NEW}`, RP_IDS: OLD, RELATED_ORIGINS: `https://${NEW}` });
  });
  afterEach(async () => {
    proxies[OLD].files = {};
    for (const context of contexts.splice(0)) await context.close();
  });
  afterAll(async () => {
    await own.close();
    for (const { stop } of Object.values(proxies)) await stop();
    await pages?.stop();
  });

  /** Starts the vault with these settings in place of the one before. */
  async function serve(vars: Readonly<Record<string, string>>): Promise<void> {
    await pages?.stop();
    pages = await servePayPages({ ...PUBLIC, ...vars });
  }
  /** These hosts lead to the vault. */
  function leadTo(...hosts: readonly (typeof OLD | typeof NEW)[]): void {
    for (const host of [OLD, NEW]) proxies[host].target = hosts.includes(host) ? pages?.origin : undefined;
  }
  /** The confirm page on a host, in a browser that has stored nothing. */
  async function pageOn(host: string, known: Passkeys): Promise<Page> {
    const to = `0x${crypto.randomUUID().replaceAll('-', '').padStart(40, '0')}`;
    const data = { to, amount: '1000', token: 'native', chainId: 84532 };
    const asked = btoa(JSON.stringify({ id: crypto.randomUUID(), data, returnUrl: `https://${host}/` }));
    const context = await own.browser.createBrowserContext();
    contexts.push(context);
    const page = await context.newPage();
    await known.attach(page);
    await page.goto(`https://${host}/pay/confirm?mode=redirect&request=${encodeURIComponent(asked)}`);
    return page;
  }

  test('with RP_IDS and RELATED_ORIGINS the passkeys of the old host are found on the new one, and sign', async () => {
    leadTo(OLD, NEW);
    pages?.vault.tokens.get('native')?.balances.set(account.toLowerCase(), 10n ** 18n);
    const page = await pageOn(NEW, passkeys);
    expect(await part(page, 'setup')).toContain(`Your passkey works on ${OLD}`);
    await findAccount(page, 2);
    expect(await part(page, 'review')).toContain(account);
    await press(page, 'approve');
    await part(page, 'done');
    // A browser without related origins goes to the old host.
    const old = await pageOn(OLD, passkeys);
    await findAccount(old, 2);
    expect(await part(old, 'review')).toContain(account);
  });

  test('passkeys made on the new host belong to the old one too', async () => {
    leadTo(OLD, NEW);
    const later = createPasskeys();
    const page = await pageOn(NEW, later);
    await makeNew(page);
    await part(page, 'review');
    expect(later.rpIds()).toEqual([OLD]);
  });

  test('the old host may serve the document alone, as a file; without it no passkey answers, and the page says so', async () => {
    leadTo(NEW);
    const refused = await pageOn(NEW, passkeys);
    await press(refused, 'find');
    await awaitSelector(refused, '#setup-notice');
    expect(await part(refused, 'setup')).toContain(`This browser does not let pages here use passkeys of ${OLD}.`);
    proxies[OLD].files = { '/.well-known/webauthn': JSON.stringify({ origins: [`https://${NEW}`] }) };
    const page = await pageOn(NEW, passkeys);
    await findAccount(page, 2);
    expect(await part(page, 'review')).toContain(account);
  });
});

/** The TLS end of a host, which passes everything on to its target; without one it is a plain web server of `files`. */
function startProxy(host: keyof typeof TEST_CERTIFICATES) {
  const proxy = {
    target: undefined as string | undefined,
    files: {} as Readonly<Record<string, string>>,
    port: 0,
    stop: () => server.stop(true),
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: TEST_CERTIFICATES[host],
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (proxy.target !== undefined) {
        const body = request.method === 'GET' ? {} : { body: await request.text() };
        const { method } = request;
        const own = { 'edge-connecting-ip': '192.0.2.1', 'accept-encoding': 'identity' };
        const headers = { ...Object.fromEntries(request.headers), ...own };
        return fetch(`${proxy.target}${pathname}${search}`, { method, headers, redirect: 'manual', ...body });
      }
      const file = proxy.files[pathname];
      if (file === undefined) return new Response(null, { status: 404 });
      return new Response(file, { headers: { 'content-type': 'application/json' } });
    },
  });
  return Object.assign(proxy, { port: server.port });
}
