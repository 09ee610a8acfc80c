import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { type OwnBrowser, startBrowser } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { spoken } from '../support/accessible.ts';
import { violations } from '../support/axe.ts';
import { waitLimitMs } from '../support/limits.ts';
import { confirmWindow, press } from '../support/pay.ts';
import { address, type ShopWorld, screen, sendAddress, startShopWorld } from '../support/shop-world.ts';
import { untilHolds } from '../support/until.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: ShopWorld;
  /** The browser of the test that pays in the browser's own sheet, which the shell of the others has not. */
  let sheets: OwnBrowser | undefined;
  beforeAll(async () => {
    world = await startShopWorld({}, { pagesOnly: true });
  });
  afterAll(async () => {
    await sheets?.close();
    await world.stop();
  });
  afterEach(() => world.leave());
  const accountOf = (page: Page) =>
    page.evaluate(() => JSON.parse(localStorage.getItem('shop.person') ?? '{}').account as string);

  describe('the shop of npm start', () => {
    test('from nothing to a receipt: the code of the inbox, test money, and a payment that the server found', async () => {
      const own = await startBrowser();
      sheets = own;
      const [email, customer] = [address(), await world.come({ context: await own.browser.createBrowserContext() })];
      const { page, context } = customer;
      await sendAddress(page, email);
      expect(await screen(page, 'code')).toContain(`We sent six digits to ${email}.`);
      // The code is copied in the inbox, and pasted here.
      await context.overridePermissions(world.inbox.url, ['clipboard-read', 'clipboard-sanitized-write']);
      await context.overridePermissions(world.shop.url, ['clipboard-read']);
      const tab = context.waitForTarget((one) => one.url().startsWith(world.inbox.url), { timeout: waitLimitMs() });
      await page.click('#inbox');
      const inbox = await (await tab).page();
      if (!inbox) throw new Error('no inbox');
      await inbox.bringToFront();
      await inbox.waitForSelector('#list button');
      await inbox.click('#list button');
      await inbox.waitForFunction(() => document.getElementById('status')?.textContent?.startsWith('Copied'));
      const code = await inbox.evaluate(() => navigator.clipboard.readText());
      await page.bringToFront();
      await page.type('#digits', code);
      expect(await screen(page, 'money')).toContain('0 USDC');
      expect(await screen(page, 'money')).toContain('It is test money: it is worth nothing');
      const account = await accountOf(page);
      await press(page, 'money-go');
      expect(await screen(page, 'pay')).toContain('100 USDC');
      await press(page, 'pay-go');
      await press(await confirmWindow({ own }, customer.passkeys), 'approve');
      const receipt = await screen(page, 'receipt');
      expect(receipt).toContain('Paid 1.25 USDC to Tea House');
      expect(receipt).toContain('Exactly 1.25 USDC went to Tea House, on chain 84532');
      await untilHolds(async () =>
        expect(await screen(page, 'receipt')).toContain('The block is final: nothing takes it back'),
      );
      expect(await world.balanceOf(account, 'usdc')).toBe(98_750_000n);
      // The link shows what the vault says, to anybody.
      const link = await page.$eval('#receipt-link', (one) => (one as HTMLAnchorElement).href);
      expect(await (await fetch(link)).json()).toMatchObject({ status: 'paid', account: account.toLowerCase() });
      // A reload keeps the receipt, and another order is another one.
      await page.reload();
      expect(await screen(page, 'receipt')).toContain('Paid 1.25 USDC to Tea House');
      await press(page, 'receipt-again');
      expect(await screen(page, 'pay')).toContain('98.75 USDC');
      expect(customer.faults).toEqual([]);
    });

    test('a number gets its code by SMS', async () => {
      const { page } = await world.come();
      const phone = '+14155550123';
      await sendAddress(page, phone);
      await screen(page, 'code');
      await page.type('#digits', world.sms.codeFor(phone) ?? '');
      await screen(page, 'money');
    });

    test('somebody who was here signs in with the passkey, on a device that knows nothing', async () => {
      const first = await world.comeWithMoney();
      const account = await accountOf(first.page);
      const again = await world.come({ passkeys: first.passkeys });
      await press(again.page, 'sign-in');
      expect(await screen(again.page, 'pay')).toContain('100 USDC');
      expect((await accountOf(again.page)).toLowerCase()).toBe(account.toLowerCase());
      await press(again.page, 'pay-out');
      await screen(again.page, 'start');
      expect(await accountOf(again.page)).toBeUndefined();
    });

    test('is paid by a popup, where the browser has no payment requests', async () => {
      const customer = await world.comeWithMoney();
      const { page } = customer;
      await page.evaluate('delete window.PaymentRequest');
      await world.pay(customer);
      expect(await screen(page, 'receipt')).toContain('Paid 1.25 USDC to Tea House');
      expect(customer.faults).toEqual([]);
    });

    test('is paid by a link, where it opens no window', async () => {
      const customer = await world.comeWithMoney();
      const { page } = customer;
      await page.evaluate('delete window.PaymentRequest; window.open = () => null');
      await press(page, 'pay-go');
      await page.waitForFunction(() => location.pathname === '/pay/confirm');
      await press(page, 'approve');
      await press(page, 'return');
      expect(await screen(page, 'receipt')).toContain('Paid 1.25 USDC to Tea House');
      expect(page.url()).toBe(`${world.shop.url}/`);
      expect(customer.faults).toEqual([]);
    });
  });

  describe('everybody', () => {
    test('gets through by keyboard alone, with the focus where the next thing is', async () => {
      const [email, { page }] = [address(), await world.come()];
      await screen(page, 'start');
      const focused = () => page.evaluate(() => document.activeElement?.id);
      expect(await focused()).toBe('who');
      expect(await page.$eval('#status', ({ textContent }) => textContent)).toBe('Sign in to order');
      await page.keyboard.type(email);
      await page.keyboard.press('Enter');
      await screen(page, 'code');
      expect(await focused()).toBe('digits');
      await page.keyboard.type(/\b\d{6}\b/.exec((await world.mail.waitFor(email)).text)?.[0] ?? '');
      await screen(page, 'money');
      expect(await focused()).toBe('money-title');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('money-go');
      await page.keyboard.press('Enter');
      await screen(page, 'pay');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('pay-go');
    });

    test('can read it in light and dark, at 320 px, and hear it', async () => {
      const customer = await world.come();
      const { page } = customer;
      await page.evaluate('delete window.PaymentRequest');
      await page.setViewport({ width: 320, height: 640 });
      const look = async (part: string) => {
        await screen(page, part);
        expect(await violations(page)).toEqual([]);
        await untilHolds(async () =>
          expect(await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth])).toEqual([320, 320]),
        );
        const small = await page.$$eval('button, input, a', (all) =>
          all.filter((one) => one.checkVisibility() && one.tagName !== 'A' && one.getBoundingClientRect().height < 44),
        );
        expect(small).toHaveLength(0);
      };
      await look('start');
      expect(await spoken(page)).toEqual(
        expect.arrayContaining([
          'heading: Sign in to order',
          'textbox: Email or mobile number',
          'button: Send me a code',
        ]),
      );
      const email = `${'long'.repeat(12)}.${address()}`;
      await sendAddress(page, email);
      await look('code');
      await page.type('#digits', /\b\d{6}\b/.exec((await world.mail.waitFor(email)).text)?.[0] ?? '');
      await look('money');
      await press(page, 'money-go');
      await look('pay');
      await world.pay(customer);
      await look('receipt');
      await page.click('#receipt summary');
      await look('receipt');
    });
  });
});
