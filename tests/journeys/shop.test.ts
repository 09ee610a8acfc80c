import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { spoken } from '../support/accessible.ts';
import { violations } from '../support/axe.ts';
import { otherCode } from '../support/digits.ts';
import { waitLimitMs } from '../support/limits.ts';
import { confirmWindow, press } from '../support/pay.ts';
import { createPayer, orderOf, payOrder } from '../support/payers.ts';
import { address, type ShopWorld, screen, sendAddress, startShopWorld } from '../support/shop-world.ts';
import { until, untilHolds } from '../support/until.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: ShopWorld;
  beforeAll(async () => {
    world = await startShopWorld({}, { pagesOnly: true });
  });
  afterAll(() => world.stop());
  afterEach(() => world.leave());
  const accountOf = (page: Page) =>
    page.evaluate(() => JSON.parse(localStorage.getItem('shop.person') ?? '{}').account as string);

  describe('the shop of npm start', () => {
    test('from nothing to a receipt: the code of the inbox, test money, and a payment that the server found', async () => {
      const [email, customer] = [address(), await world.come()];
      const { page, context } = customer;
      // The shell that shows the pages has no sheet of its own: a popup opens.
      await page.evaluate('delete window.PaymentRequest');
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
      await world.pay(customer);
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

    test('somebody who was here signs in with the passkey, on a device that knows nothing', async () => {
      const first = await world.comeWithMoney();
      const account = await accountOf(first.page);
      const again = await world.come({ passkeys: first.passkeys });
      await press(again.page, 'sign-in');
      const held = await first.page.$eval('#pay-balance', (one) => one.textContent ?? '');
      expect(await screen(again.page, 'pay')).toContain(held);
      expect((await accountOf(again.page)).toLowerCase()).toBe(account.toLowerCase());
      await press(again.page, 'pay-out');
      await screen(again.page, 'start');
      expect(await accountOf(again.page)).toBeUndefined();
    });
  });

  describe('everybody', () => {
    test('gets through by keyboard alone, can read it in light and dark, at 320 px, and hear it', async () => {
      const customer = await world.come();
      const { page } = customer;
      await page.evaluate('delete window.PaymentRequest');
      await page.setViewport({ width: 320, height: 640 });
      const focused = () => page.evaluate(() => document.activeElement?.id);
      const look = async () => {
        expect(await violations(page)).toEqual([]);
        await untilHolds(async () =>
          expect(await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth])).toEqual([320, 320]),
        );
        const small = await page.$$eval('button, input, a', (all) =>
          all.filter((one) => one.checkVisibility() && one.tagName !== 'A' && one.getBoundingClientRect().height < 44),
        );
        expect(small).toHaveLength(0);
      };
      await screen(page, 'start');
      // The focus is where the next thing is.
      expect(await focused()).toBe('who');
      expect(await page.$eval('#status', ({ textContent }) => textContent)).toBe('Sign in to order');
      await look();
      expect(await spoken(page)).toEqual(
        expect.arrayContaining([
          'heading: Sign in to order',
          'textbox: Email or mobile number',
          'button: Send me a code',
        ]),
      );
      const email = `${'long'.repeat(12)}.${address()}`;
      await page.keyboard.type(email);
      await page.keyboard.press('Enter');
      await screen(page, 'code');
      expect(await focused()).toBe('digits');
      await look();
      await page.keyboard.type(/\b\d{6}\b/.exec((await world.mail.waitFor(email)).text)?.[0] ?? '');
      await screen(page, 'money');
      expect(await focused()).toBe('money-title');
      await look();
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('money-go');
      await page.keyboard.press('Enter');
      await screen(page, 'pay');
      await look();
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('pay-go');
      await world.pay(customer);
      await screen(page, 'receipt');
      await page.click('#receipt summary');
      await look();
    });
  });

  describe('what does not go as planned', () => {
    test('an address that is none, a wrong code, another code, another address', async () => {
      const { page } = await world.come();
      await sendAddress(page, 'nonsense');
      await page.waitForSelector('#who-fault:not([hidden])');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('who');
      const email = address();
      await sendAddress(page, email);
      await screen(page, 'code');
      const sent = /\b\d{6}\b/.exec((await world.mail.waitFor(email)).text)?.[0];
      await page.type('#digits', otherCode(sent));
      await page.waitForSelector('#digits-fault:not([hidden])');
      expect(await screen(page, 'digits-fault')).toContain('That is not the code.');
      await press(page, 'code-other');
      await sendAddress(page, address());
      await screen(page, 'code');
    });

    test('a reload in the middle and a passkey that is refused: the same address goes on, by the code that was sent', async () => {
      const [email, { page, passkeys }] = [address(), await world.come()];
      await passkeys.allow(false);
      await press(page, 'sign-in');
      expect(await screen(page, 'start-notice')).toContain('No passkey was used.');
      await sendAddress(page, email);
      await screen(page, 'code');
      await page.reload();
      expect(await screen(page, 'start')).toContain('You began to sign up here.');
      await page.click('#who-go');
      await screen(page, 'code');
      const codes = () => world.mail.messages.filter(({ to }) => to.includes(email));
      expect(codes()).toHaveLength(1);
      await page.type('#digits', /\b\d{6}\b/.exec(codes()[0]?.text ?? '')?.[0] ?? '');
      expect(await screen(page, 'start-notice')).toContain('No passkey was used.');
      await passkeys.allow(true);
      await page.click('#who-go');
      await screen(page, 'money');
      expect(codes()).toHaveLength(1);
    });

    test('a passkey that was made and lost, by somebody with a number: start over with a new one', async () => {
      const [phone, { page, passkeys }] = ['+14155550123', await world.come()];
      // One that was used is none any more.
      const code = () => until('its code by SMS', () => world.sms.codeFor(phone));
      await sendAddress(page, phone);
      await screen(page, 'code');
      await page.evaluate(() => {
        navigator.credentials.get = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
      });
      await page.type('#digits', await code());
      expect(await screen(page, 'start-notice')).toContain('No passkey was used.');
      expect(passkeys.ids()).toHaveLength(1);
      await page.reload();
      await press(page, 'start-over');
      expect(await page.$eval('#who', (field) => (field as HTMLInputElement).value)).toBe('');
      await sendAddress(page, phone);
      await screen(page, 'code');
      await page.type('#digits', await code());
      await screen(page, 'money');
      expect(passkeys.ids()).toHaveLength(2);
    });

    test('a payment that is cancelled: nothing was paid, and Pay works again, also by a link where no window opens', async () => {
      const customer = await world.comeWithMoney();
      const { page, passkeys } = customer;
      await page.evaluate('delete window.PaymentRequest');
      await press(page, 'pay-go');
      await press(await confirmWindow(world, passkeys), 'cancel');
      expect(await screen(page, 'pay-notice')).toContain('Nothing was paid.');
      await page.bringToFront();
      await page.evaluate('window.open = () => null');
      await press(page, 'pay-go');
      await page.waitForFunction(() => location.pathname === '/pay/confirm');
      await press(page, 'approve');
      await press(page, 'return');
      expect(await screen(page, 'receipt')).toContain('Paid 1.25 USDC to Tea House');
      expect(page.url()).toBe(`${world.shop.url}/`);
      expect(customer.faults).toEqual([]);
    });

    test('a payment that is sent and in no block is waited for, over a reload, and is no receipt before', async () => {
      const customer = await world.comeWithMoney();
      const { page } = customer;
      await page.evaluate('delete window.PaymentRequest');
      await page.evaluate(() => {
        addEventListener('message', ({ data }) => {
          if (data.type === 'pending') document.title = 'sent';
        });
      });
      await world.chain.rpc('evm_setAutomine', [false]);
      const confirm = await world.pay(customer);
      await page.waitForFunction(() => document.title === 'sent');
      await confirm.close();
      await screen(page, 'waiting');
      await page.reload();
      await screen(page, 'waiting');
      expect(await page.$eval('#receipt', (part) => (part as HTMLElement).hidden)).toBe(true);
      await world.chain.rpc('evm_setAutomine', [true]);
      await world.chain.rpc('anvil_mine', ['0x1']);
      await screen(page, 'receipt');
    });

    test('a receipt that the page was handed is worth what the server finds', async () => {
      const { page } = await world.comeWithMoney();
      const { data, id } = await page.evaluate(async () => {
        const headers = { 'content-type': 'application/json' };
        const { id, ...data } = await (await fetch('/orders', { method: 'POST', headers, body: '{}' })).json();
        return { id, data };
      });
      const { to, token, amount, chainId } = data;
      const theirs = orderOf({ id, to, token, amount, chainId, origin: world.shop.url });
      const receipt = await payOrder(world.chain.rpc, await createPayer(world.chain.rpc, 2), theirs);
      const mine = await page.evaluate(() => JSON.parse(sessionStorage.getItem('shop.order') ?? '""') as string);
      const lead = async (outcome: object) => {
        const fragment = Buffer.from(JSON.stringify(outcome)).toString('base64url');
        await page.goto('about:blank');
        await page.goto(`${world.shop.url}/#vault-pay=${fragment}`);
      };
      // A real payment of the right sum, of another order: the page says so, and offers to pay this one.
      await lead({ id: mine, ...receipt });
      expect(await screen(page, 'pay-notice')).toContain('This payment is for another order.');
      // What nobody ever sent is looked for, and is no receipt.
      await lead({ id: mine, userOpHash: `0x${'12'.repeat(32)}`, status: 'paid', final: true });
      for (let looks = 0; looks < 2; looks++)
        await page.waitForResponse((response) => response.url().endsWith('/receipt'));
      await screen(page, 'waiting');
      // The page forgets what was made up once the person leaves it.
      await page.evaluate(() => sessionStorage.removeItem('shop.hints'));
      await lead({ id: `${mine}"><img src=x>`, error: 'cancelled' });
      expect(await screen(page, 'pay-notice')).toContain('Nothing was paid.');
      expect(await page.$$('img[src=x]')).toEqual([]);
    });

    test('a browser without passkeys says so, before anything is asked', async () => {
      const { page } = await world.come({}, 'about:blank');
      await page.evaluateOnNewDocument('delete globalThis.PublicKeyCredential');
      await page.goto(world.shop.url);
      expect(await screen(page, 'problem')).toContain('This browser cannot use passkeys here');
    });

    test('the vault is away: the page says so, and works once it is back', async () => {
      const { page } = await world.come({}, 'about:blank');
      await page.setRequestInterception(true);
      let isAway = true;
      page.on('request', (request) => {
        if (isAway && request.url().startsWith(world.origin)) request.abort();
        else request.continue();
      });
      await page.goto(world.shop.url);
      expect(await screen(page, 'problem')).toContain('The vault does not answer');
      isAway = false;
      await press(page, 'problem-go');
      await screen(page, 'start');
    });
  });
});
