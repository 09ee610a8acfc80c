import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { smtpMailer } from '../../commands/mail/smtp.ts';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const alice = { identifier: 'alice@example.com', channel: 'email' };

describe.skipIf(!chromium)('the pass in a mail, opened in Chromium', () => {
  let own: OwnBrowser;
  let box: Awaited<ReturnType<typeof startMailCatcher>>;
  let mail: ReturnType<typeof smtpMailer>;
  let t: TestVault;
  let page: Page;
  let asked: string[];
  beforeAll(async () => {
    [own, box] = await Promise.all([startShell(), startMailCatcher()]);
  });
  afterAll(async () => {
    await Promise.all([own.close(), box.stop()]);
  });
  beforeEach(async () => {
    mail = smtpMailer(box.url);
    const vars = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'vault@example.net', SMTP_URL: box.url };
    t = await startVault({ ...vars, RATE_LIMIT_CODES_PER_IDENTIFIER: '1' }, { mail });
    page = await own.browser.newPage();
    asked = [];
    page.on('request', (request) => {
      if (request.isNavigationRequest()) asked.push(`${request.method()} ${request.url()}`);
    });
  });
  afterEach(async () => {
    await page.close();
    await t.stop();
    await mail.close();
  });

  /** The link of the newest mail; the vault names itself by BASE_URL, whose name is this machine too. */
  const link = () => /\S+\/pass\?lang=en#(\S+)/.exec(box.messages.at(-1)?.text ?? '') ?? ['', ''];
  const path = () => new URL(page.url()).pathname;
  const press = () => Promise.all([page.waitForNavigation(), page.click('button')]);
  const isSeen = (selector: string) => page.$eval(selector, (part) => part.checkVisibility());
  /** The browser's own requests come from loopback, as do those of the test. */
  const send = () => t.call('POST /api/verify/send', alice);

  test('lets this device ask again at one click; no URL holds the pass, nor does the history', async () => {
    expect([(await send()).status, (await send()).status]).toEqual([200, 429]);
    const [url, pass = ''] = link();
    expect(pass).toMatch(/^[0-9a-z]{8}-[0-9a-f]{32}$/);
    await page.goto(url);
    expect(await isSeen('#by-hand')).toBe(false);
    expect(page.url()).toBe(`${new URL(url).origin}/pass?lang=en`);
    expect((await send()).status).toBe(429);
    await press();
    expect(path()).toBe('/pass/ready');
    expect((await send()).status).toBe(200);
    const seen = asked.slice(1).join(' ');
    expect(seen).not.toContain(pass);
    expect(t.entries.filter((entry) => JSON.stringify(entry).includes(pass))).toEqual([]);
  });

  test('works without JavaScript: the page asks for the end of the link', async () => {
    await send();
    const [url, pass = ''] = link();
    await page.setJavaScriptEnabled(false);
    await page.goto(url);
    expect(await isSeen('#by-hand')).toBe(true);
    await page.type('#pass', pass);
    await press();
    expect(path()).toBe('/pass/ready');
    expect((await send()).status).toBe(200);
  });

  test('that has ended leads to a page that says so', async () => {
    await send();
    await t.clock.advance(86_400_000);
    await page.goto(link()[0] ?? '');
    await press();
    expect(path()).toBe('/pass/ended');
    expect(await page.$eval('h1', (heading) => heading.textContent)).toBe('This link does not work any more');
  });

  test('can be pressed at 320 px without scrolling sideways, in both schemes', async () => {
    await send();
    await page.setViewport({ width: 320, height: 568 });
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.goto('about:blank');
      await page.goto(link()[0] ?? '');
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
      const button = await page.$eval('button', (part) => part.getBoundingClientRect().toJSON());
      expect(button.height).toBeGreaterThanOrEqual(44);
      expect(button.bottom).toBeLessThanOrEqual(568);
    }
  });
});
