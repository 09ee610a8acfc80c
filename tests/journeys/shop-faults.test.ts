import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { otherCode } from '../support/digits.ts';
import { confirmWindow, press } from '../support/pay.ts';
import { createPayer, orderOf, payOrder } from '../support/payers.ts';
import { address, type ShopWorld, screen, sendAddress, startShopWorld } from '../support/shop-world.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: ShopWorld;
  beforeAll(async () => {
    world = await startShopWorld({}, { pagesOnly: true });
  });
  afterAll(() => world.stop());
  afterEach(() => world.leave());

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

    test('a reload in the middle: the same address goes on, and no second code is sent', async () => {
      const [email, { page }] = [address(), await world.come()];
      await sendAddress(page, email);
      await screen(page, 'code');
      await page.reload();
      expect(await screen(page, 'start')).toContain('You began to sign up here.');
      await page.click('#who-go');
      await screen(page, 'code');
      const codes = world.mail.messages.filter(({ to }) => to.includes(email));
      expect(codes).toHaveLength(1);
      await page.type('#digits', /\b\d{6}\b/.exec(codes[0]?.text ?? '')?.[0] ?? '');
      await screen(page, 'money');
    });

    test('a passkey that is refused, and one without an account', async () => {
      const [email, { page, passkeys }] = [address(), await world.come()];
      await passkeys.allow(false);
      await press(page, 'sign-in');
      expect(await screen(page, 'start-notice')).toContain('No passkey was used.');
      await sendAddress(page, email);
      await screen(page, 'code');
      await page.type('#digits', /\b\d{6}\b/.exec((await world.mail.waitFor(email)).text)?.[0] ?? '');
      expect(await screen(page, 'start-notice')).toContain('No passkey was used.');
      await passkeys.allow(true);
      await page.click('#who-go');
      await screen(page, 'money');
    });

    test('a passkey that was made and lost: start over with a new one', async () => {
      const [email, { page, passkeys }] = [address(), await world.come()];
      await sendAddress(page, email);
      await screen(page, 'code');
      await page.evaluate(() => {
        navigator.credentials.get = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
      });
      await page.type('#digits', /\b\d{6}\b/.exec((await world.mail.waitFor(email)).text)?.[0] ?? '');
      expect(await screen(page, 'start-notice')).toContain('No passkey was used.');
      expect(passkeys.ids()).toHaveLength(1);
      await page.reload();
      await press(page, 'start-over');
      expect(await page.$eval('#who', (field) => (field as HTMLInputElement).value)).toBe('');
      await sendAddress(page, email);
      await screen(page, 'code');
      await page.type('#digits', /\b\d{6}\b/.exec((await world.mail.waitFor(email)).text)?.[0] ?? '');
      await screen(page, 'money');
      expect(passkeys.ids()).toHaveLength(2);
    });

    test('a payment that is cancelled: nothing was paid, and Pay works again', async () => {
      const customer = await world.comeWithMoney();
      const { page, passkeys } = customer;
      await page.evaluate('delete window.PaymentRequest');
      await press(page, 'pay-go');
      await press(await confirmWindow(world, passkeys), 'cancel');
      expect(await screen(page, 'pay-notice')).toContain('Nothing was paid.');
      await page.bringToFront();
      await world.pay(customer);
      await screen(page, 'receipt');
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
