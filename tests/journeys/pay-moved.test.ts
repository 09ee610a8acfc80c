import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { BrowserContext, Page } from 'puppeteer-core';
import { systemClock } from '../../lib/base/clock.ts';
import { chromium, type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { LOCAL_MONEY, type SponsoredBundler, startSponsoredBundler } from '../support/bundler.ts';
import { chainVars } from '../support/chain-vars.ts';
import { awaitSelector, createPasskeys, findAccount, makeNew, type Passkeys, part, press } from '../support/pay.ts';
import { TEST_CERTIFICATES } from '../support/tls.ts';
import { startVault, type TestVault } from '../support/vault.ts';

/** The host on which people made their passkeys, and the one that the vault moves to. */
const [OLD, NEW] = ['hooks.example', 'other.example'] as const;

/** What a vault behind a proxy needs, without providers of codes. */
const PUBLIC = { TRUSTED_PROXIES: '127.0.0.1/32', EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' };

if (chromium) {
  describe('a vault that moved to another host, as docs/operating.md says', () => {
    let chain: Chain;
    let contracts: Deployment;
    let sponsored: SponsoredBundler;
    let own: OwnBrowser;
    let vault: TestVault | undefined;
    const contexts: BrowserContext[] = [];
    const proxies = { [OLD]: startProxy(OLD), [NEW]: startProxy(NEW) };
    const passkeys = createPasskeys();
    let account: string;

    beforeAll(async () => {
      chain = await startChain();
      contracts = await deployContracts(chain.rpc);
      sponsored = await startSponsoredBundler(chain);
      // Names lead to loopback, port 443 included, where browsers look for related origins.
      const rules = [OLD, NEW].map((host) => `MAP ${host}:443 127.0.0.1:${proxies[host].port}`);
      own = await startShell('--ignore-certificate-errors', `--host-resolver-rules=${rules.join(', ')}`);
      await serve({ BASE_URL: `https://${OLD}` }, [OLD]);
      const { page } = await pageOn(OLD, passkeys);
      await makeNew(page);
      await part(page, 'review');
      account = await page.$eval('#from', (element) => element.textContent ?? '');
      await chain.rpc('anvil_setBalance', [account, '0xde0b6b3a7640000']);
    });
    afterEach(async () => {
      for (const context of contexts.splice(0)) await context.close();
    });
    afterAll(async () => {
      await own.close();
      for (const { stop } of Object.values(proxies)) await stop();
      await vault?.stop();
      await sponsored.stop();
      await chain.stop();
    });

    /** Restarts the vault with these settings, behind the proxies of these hosts. */
    async function serve(vars: Readonly<Record<string, string>>, hosts: readonly (typeof OLD | typeof NEW)[]) {
      await vault?.stop();
      const clock = { ...systemClock, advance: () => Promise.reject(new Error('this clock is real')) };
      const known = { ...chainVars(chain.url, contracts), BUNDLER_URL: sponsored.url, ...LOCAL_MONEY, ...PUBLIC };
      vault = await startVault({ ...known, ...vars }, { clock });
      for (const host of [OLD, NEW]) proxies[host].target = hosts.includes(host) ? vault.url : undefined;
    }
    /** The confirm page on a host, in a browser that has stored nothing. */
    async function pageOn(host: string, known: Passkeys): Promise<{ page: Page; to: string }> {
      const to = `0x${crypto.randomUUID().replaceAll('-', '').padStart(40, '0')}`;
      const data = { to, amount: '1000', token: 'native', chainId: 84532 };
      const asked = btoa(JSON.stringify({ id: crypto.randomUUID(), data, returnUrl: `https://${host}/` }));
      const context = await own.browser.createBrowserContext();
      contexts.push(context);
      const page = await context.newPage();
      await known.attach(page);
      await page.goto(`https://${host}/pay/confirm?mode=redirect&request=${encodeURIComponent(asked)}`);
      return { page, to };
    }

    test('with RP_IDS and RELATED_ORIGINS the passkeys of the old host are found on the new one, and pay', async () => {
      await serve({ BASE_URL: `https://${NEW}`, RP_IDS: OLD, RELATED_ORIGINS: `https://${NEW}` }, [OLD, NEW]);
      const { page, to } = await pageOn(NEW, passkeys);
      expect(await part(page, 'setup')).toContain(`The passkey belongs to ${OLD}`);
      await findAccount(page, 2);
      expect(await part(page, 'review')).toContain(account);
      await press(page, 'approve');
      await part(page, 'done');
      expect(BigInt((await chain.rpc('eth_getBalance', [to, 'latest'])) as string)).toBe(1000n);
    });

    test('a browser without related origins goes to the old host, which the same vault serves', async () => {
      await serve({ BASE_URL: `https://${NEW}`, RP_IDS: OLD, RELATED_ORIGINS: `https://${NEW}` }, [OLD, NEW]);
      const { page } = await pageOn(OLD, passkeys);
      await press(page, 'find');
      expect(await part(page, 'review')).toContain(account);
      await press(page, 'approve');
      await part(page, 'done');
    });

    test('passkeys made on the new host belong to the old one too', async () => {
      await serve({ BASE_URL: `https://${NEW}`, RP_IDS: OLD, RELATED_ORIGINS: `https://${NEW}` }, [OLD, NEW]);
      const later = createPasskeys();
      const { page } = await pageOn(NEW, later);
      await makeNew(page);
      await part(page, 'review');
      expect(later.rpIds()).toEqual([OLD]);
    });

    test('the old host may serve the document alone, as a file', async () => {
      await serve({ BASE_URL: `https://${NEW}`, RP_IDS: OLD, RELATED_ORIGINS: `https://${NEW}` }, [NEW]);
      proxies[OLD].files = { '/.well-known/webauthn': JSON.stringify({ origins: [`https://${NEW}`] }) };
      const { page } = await pageOn(NEW, passkeys);
      await press(page, 'find');
      expect(await part(page, 'review')).toContain(account);
      proxies[OLD].files = {};
    });

    test('without the document on the old host no passkey of it answers, and the page says so', async () => {
      await serve({ BASE_URL: `https://${NEW}`, RP_IDS: OLD, RELATED_ORIGINS: `https://${NEW}` }, [NEW]);
      const { page } = await pageOn(NEW, passkeys);
      await press(page, 'find');
      await awaitSelector(page, '#setup-notice');
      expect(await part(page, 'setup')).toContain(`This browser lets no page here use passkeys of ${OLD}.`);
    });
  });
}

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
