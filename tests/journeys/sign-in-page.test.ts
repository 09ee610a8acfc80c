import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { BrowserContext, Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { toolPath } from '../../scripts/testing/tools.ts';
import { attachToPopup, visitorAt } from '../support/authorize-page.ts';
import { keepWorking } from '../support/background.ts';
import { waitLimitMs } from '../support/limits.ts';
import { clientsFile } from '../support/openid.ts';
import { awaitSelector, createPasskeys, type PayWorld, press, startPayWorld } from '../support/pay.ts';

// oidc-client-ts, as its package is, in a page without a server: discovery, /token and /userinfo are asked by the page
// from another origin, and the popup finds its opener after the vault's page.

describe.skipIf(!chromium)('in Chromium', () => {
  const script = readFileSync(toolPath('oidc-client-ts/dist/browser/oidc-client-ts.min.js'), 'utf8');
  let issuer = '';
  let home = '';
  const app = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) =>
      new URL(request.url).pathname === '/oidc.js'
        ? new Response(script, { headers: { 'content-type': 'text/javascript' } })
        : new Response(pageOf(), { headers: { 'content-type': 'text/html; charset=utf-8' } }),
  });
  home = `http://localhost:${app.port}`;
  const pageOf = () => `<!doctype html><title>Tea</title><script src="/oidc.js"></script>
    <button id="redirect">Sign in</button> <button id="popup">Sign in by popup</button>
    <script>
    const manager = new oidc.UserManager({ authority: '${issuer}', client_id: 'page', scope: 'openid email',
      redirect_uri: '${home}/back', loadUserInfo: true });
    const show = (text) => {
      document.body.append(Object.assign(document.createElement('p'), { id: 'told', textContent: text }));
    };
    const told = [({ profile }) => show('signed in: ' + profile.email), (error) => show('error: ' + error.message)];
    document.getElementById('redirect').onclick = () => manager.signinRedirect();
    document.getElementById('popup').onclick = () => manager.signinPopup().then(...told);
    // In a popup it tells the opener and closes the window: there is no user then.
    if (location.pathname === '/back') manager.signinCallback().then((user) => user && told[0](user), told[1]);
    </script>`;

  let world: PayWorld;
  let endWork: () => Promise<unknown>;
  let context: BrowserContext;
  const passkeys = createPasskeys();
  beforeAll(async () => {
    const { operatorFiles } = clientsFile({ page: { redirect_uris: [`${home}/back`] } });
    const registrar = { REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey };
    const more = { ...registrar, APPS: 'page', CLIENTS: 'clients.json', RELAY_DAILY_MAX: '1000000' };
    world = await startPayWorld({ pagesOnly: true, more, operatorFiles });
    issuer = world.origin;
    endWork = keepWorking(world.t, 200);
    context = await world.own.browser.createBrowserContext();
  });
  afterAll(async () => {
    await endWork();
    await world.stop();
    await app.stop(true);
  });

  const toldBy = async (page: Page) => {
    await awaitSelector(page, '#told');
    return page.$eval('#told', (element) => element.textContent);
  };
  const openApp = async () => {
    const page = await context.newPage();
    await passkeys.attach(page);
    await page.goto(home);
    return page;
  };

  describe('oidc-client-ts', () => {
    test('signs a new person up by redirect', async () => {
      const page = await openApp();
      await press(page, 'redirect');
      const visitor = visitorAt(page, world.t);
      await visitor.screen('start');
      await visitor.enter('ada@example.com');
      await visitor.typeCode('ada@example.com');
      await press(page, 'passkey-go');
      expect(await toldBy(page)).toBe('signed in: ada@example.com');
    });

    test('signs a person in by popup, which closes itself', async () => {
      const page = await openApp();
      const opened = context.waitForTarget((one) => one.url().includes('/authorize?'), { timeout: waitLimitMs() });
      await press(page, 'popup');
      const popup = await (await opened).asPage();
      const closed = new Promise((resolve) => popup.once('close', resolve));
      await attachToPopup(popup, passkeys);
      await press(popup, 'sign-in');
      expect(await toldBy(page)).toBe('signed in: ada@example.com');
      await closed;
    });

    test('says that the person cancelled', async () => {
      const page = await openApp();
      await press(page, 'redirect');
      await visitorAt(page, world.t).screen('start');
      await press(page, 'cancel');
      expect(await toldBy(page)).toBe('error: the person cancelled');
    });
  });
});
