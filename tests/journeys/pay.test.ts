import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { USDC } from '../../scripts/dev-stack/usdc.ts';
import {
  abort,
  awaitSelector,
  buy,
  closeWindows,
  confirmWindow,
  createPasskeys,
  dismissed,
  findAccount,
  makeNew,
  openShop,
  type PayData,
  type PayWorld,
  part,
  press,
  startPayWorld,
  windowsGone,
} from '../support/pay.ts';
import { keepSent } from '../support/pay-windows.ts';

/** Takes an account out of the browser's memory. */
function forgetAccount(page: Page, address: string): Promise<void> {
  return page.evaluate(
    (of) =>
      new Promise<void>((resolve) => {
        indexedDB.open('vault-pay').onsuccess = ({ target }) => {
          const db = (target as IDBOpenDBRequest).result;
          const transaction = db.transaction('accounts', 'readwrite');
          transaction.objectStore('accounts').delete(of);
          transaction.oncomplete = () => {
            db.close();
            resolve();
          };
        };
      }),
    address.toLowerCase(),
  );
}

if (chromium) {
  describe('the payment handler in Chromium', () => {
    const ETHER = 10n ** 18n;
    let world: PayWorld;
    let shop: Page;
    let method: string;
    /** The account that the first test makes, and all pay from. */
    let account: string;
    const passkeys = createPasskeys();
    beforeAll(async () => {
      world = await startPayWorld();
      method = `${world.origin}/pay`;
    });
    afterAll(() => world.stop());
    beforeEach(async () => {
      shop = await openShop(world);
    });
    afterEach(async () => {
      world.upstream.set();
      await shop.close();
      await closeWindows(world);
    });

    /** Somebody new to be paid. */
    let payees = 0xa11ce000;
    const payee = () => `0x${(payees++).toString(16).padStart(40, '0')}`;
    const native = (more: PayData = {}): PayData & { to: string } => ({
      to: payee(),
      amount: '1000000000000000',
      token: 'native',
      chainId: 84532,
      ...more,
    });
    const sent = () => world.upstream.calls.filter((call) => call.method === 'eth_sendUserOperation');
    /** How many operations were sent since, however often each of them was. */
    const kindsSince = (count: number) =>
      new Set(
        sent()
          .slice(count)
          .map(({ params }) => JSON.stringify(params[0])),
      ).size;
    const received = (data: { to: string }) => world.balanceOf(data.to, 'native');

    test('is known before it is installed, by either identifier, and tells nothing of the person', async () => {
      const asked = await shop.evaluate(
        async (methods) => {
          const total = { label: 'Total', amount: { currency: 'USD', value: '1' } };
          return Promise.all(
            methods.map((supportedMethods) => new PaymentRequest([{ supportedMethods }], { total }).canMakePayment()),
          );
        },
        [method, `${method}/`, `${world.origin}/.well-known/payment-method-manifest`],
      );
      expect(asked).toEqual([true, true, true]);
    });

    test('from a click at a shop to native coin: installed, an account made by a passkey, paid, settled', async () => {
      const data = native({ label: 'Two teas' });
      const { told } = await buy(shop, { method, data, total: { currency: 'ETH', value: '0.001' } });
      const page = await confirmWindow(world, passkeys);
      expect(await part(page, 'setup')).toContain('Pay with your passkey');
      await makeNew(page);
      expect(await part(page, 'review')).toContain('Not enough ETH: 0.001 needed, 0 here.');
      expect(await page.$eval('#approve', (button) => (button as HTMLElement).hidden)).toBe(true);
      account = await page.$eval('#from', (element) => element.textContent ?? '');
      await world.fund(account, { wei: ETHER, usdc: 100_000_000n });
      // The worker still knows the request after a reload.
      await page.reload();
      const shown = await part(page, 'review');
      for (const text of [new URL(world.shop).host, 'Pay 0.001 ETH', 'Two teas', 'Base Sepolia (84532)', account]) {
        expect(shown).toContain(text);
      }
      expect(shown).toContain('Sponsored: you pay nothing');
      expect(shown.toLowerCase()).toContain(data.to);
      expect(await page.$('#warnings li')).toBeNull();
      await press(page, 'approve');
      const { methodName, details } = await told;
      expect(methodName).toBe(method);
      expect(Object.keys(details ?? {})).toEqual(['userOpHash', 'txHash', 'chainId', 'account', 'token']);
      expect(details).toMatchObject({ chainId: 84532, account, token: 'native' });
      expect(await received(data)).toBe(10n ** 15n);
      expect(await world.balanceOf(account, 'native')).toBe(ETHER - 10n ** 15n);
      const receipt = await world.chain.rpc('eth_getTransactionReceipt', [details?.['txHash']]);
      expect(receipt).toMatchObject({ status: '0x1' });
    });

    test('what is signed ends with the request, 10 minutes from now at the latest', async () => {
      const started = Date.now();
      const ends = async (data: PayData) => {
        const { told } = await buy(shop, { method, data });
        const page = await confirmWindow(world, passkeys);
        await press(page, 'approve');
        expect((await told).details).toMatchObject({ account });
        const { signature = '' } = (sent().at(-1)?.params[0] ?? {}) as { signature?: string };
        // The first key, and six bytes of seconds.
        expect(signature.slice(0, 4)).toBe('0x00');
        return Number.parseInt(signature.slice(4, 16), 16) * 1000;
      };
      const expires = started + 100_000;
      const early = await ends(native({ expires: new Date(expires).toISOString() }));
      expect(early).toBeGreaterThan(started);
      expect(early).toBeLessThanOrEqual(expires + 1_000);
      const late = await ends(native({ expires: new Date(started + 86_400_000).toISOString() }));
      // A request lasts for four minutes.
      expect(late).toBeGreaterThan(started + 120_000);
      expect(late).toBeLessThanOrEqual(Date.now() + 241_000);
    });

    test('a bundler that takes a payment and never includes it: once its end is final, nothing was paid', async () => {
      keepSent(world);
      const data = native();
      await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      await world.later(300);
      expect(await part(page, 'problem')).toContain('It can no longer be paid.');
      await press(page, 'leave');
      await dismissed(page);
      expect(await received(data)).toBe(0n);
    });

    test('USDC, by the well-known identifier, which is answered as it was asked', async () => {
      const data = { ...native(), amount: '1250000', token: USDC };
      const wellKnown = `${world.origin}/.well-known/payment-method-manifest`;
      const { told } = await buy(shop, { method: wellKnown, data, total: { currency: 'USD', value: '1.25' } });
      const page = await confirmWindow(world, passkeys);
      expect(await part(page, 'review')).toContain('Pay 1.25 USDC');
      expect(await page.$('#warnings li')).toBeNull();
      await press(page, 'approve');
      expect(await told).toMatchObject({ methodName: wellKnown, details: { account, token: USDC } });
      expect(await world.balanceOf(data.to, 'usdc')).toBe(1_250_000n);
      expect(await world.balanceOf(account, 'usdc')).toBe(98_750_000n);
    });

    test('without a sponsor the account pays the fee, which is shown before', async () => {
      world.upstream.set('refusing', 'pm_sponsorUserOperation');
      const before = await world.balanceOf(account, 'native');
      const data = native();
      const { told } = await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      const shown = await part(page, 'review');
      const most = BigInt(Math.round(Number(/At most ([\d.]+) ETH/.exec(shown)?.[1]) * 1e18));
      await press(page, 'approve');
      expect((await told).details).toMatchObject({ account });
      const fee = before - 10n ** 15n - (await world.balanceOf(account, 'native'));
      expect(fee).toBeGreaterThan(0n);
      // What is left of it is the account's deposit for the next time.
      expect(fee).toBeLessThanOrEqual(most);
    });

    test('cancelled by the person: the browser ends the request, nothing moves', async () => {
      const data = native();
      const count = sent().length;
      await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await part(page, 'review');
      await press(page, 'cancel');
      await dismissed(page);
      expect(await abort(shop)).toBe('InvalidStateError');
      expect([sent().length, await received(data)]).toEqual([count, 0n]);
    });

    test("the shop's tab closed by the person: the window goes with it, nothing moves", async () => {
      const data = native();
      const count = sent().length;
      const other = await openShop(world);
      await buy(other, { method, data });
      const page = await confirmWindow(world, passkeys);
      await part(page, 'review');
      await other.close();
      await windowsGone(world);
      expect(page.isClosed()).toBe(true);
      expect([sent().length, await received(data)]).toEqual([count, 0n]);
    });

    test('a passkey that is refused leads back, and may be tried again', async () => {
      const data = native();
      const { told } = await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await passkeys.allow(false);
      await press(page, 'approve');
      await awaitSelector(page, '#review-notice');
      expect(await part(page, 'review')).toContain('Your passkey was not used. Nothing was paid.');
      expect(await received(data)).toBe(0n);
      await passkeys.allow(true);
      await press(page, 'approve');
      expect((await told).details).toMatchObject({ account });
      expect(await received(data)).toBe(10n ** 15n);
    });

    test('the shop takes its request back: nothing can be approved any more', async () => {
      const data = native();
      const count = sent().length;
      const { told } = await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await part(page, 'review');
      expect(await abort(shop)).toBe('aborted');
      expect((await told).error).toBe('AbortError');
      expect([sent().length, await received(data)]).toEqual([count, 0n]);
    });

    test('once the signature is on its way the shop cannot take its request back', async () => {
      const { release } = keepSent(world);
      const data = native();
      const { told } = await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      expect(await abort(shop)).toBe('InvalidStateError');
      await release();
      expect((await told).details).toMatchObject({ account });
      expect(await received(data)).toBe(10n ** 15n);
    });

    test('a request that ends too soon cannot be approved', async () => {
      const data = native({ expires: new Date(Date.now() + 94_000).toISOString() });
      const count = sent().length;
      await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await part(page, 'review');
      expect(await part(page, 'problem')).toContain('The request ends in less than 90 seconds');
      await press(page, 'leave');
      await dismissed(page);
      expect([sent().length, await received(data)]).toEqual([count, 0n]);
    });

    test('two requests at once: the browser shows one, and only that is paid', async () => {
      const [first, second] = [native(), native()];
      const other = await openShop(world);
      const one = await buy(shop, { method, data: first });
      const page = await confirmWindow(world, passkeys);
      await part(page, 'review');
      const two = await buy(other, { method, data: second });
      expect((await two.told).error).toBe('AbortError');
      await page.bringToFront();
      await press(page, 'approve');
      expect((await one.told).details).toMatchObject({ account });
      expect([await received(first), await received(second)]).toEqual([10n ** 15n, 0n]);
      await other.close();
    });

    test('the bundler is down before approval: said so, and tried again', async () => {
      world.upstream.set('down', 'pm_sponsorUserOperation');
      const data = native();
      const { told } = await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      expect(await part(page, 'problem')).toContain('The network cannot be reached');
      world.upstream.set();
      await press(page, 'retry');
      await press(page, 'approve');
      expect((await told).details).toMatchObject({ account });
      expect(await received(data)).toBe(10n ** 15n);
    });

    test("the bundler's answer is lost: the page finds the payment, and the money moves once", async () => {
      world.upstream.set('deaf', 'eth_sendUserOperation');
      const data = native();
      const before = sent().length;
      const { told } = await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await press(page, 'approve');
      expect((await told).details).toMatchObject({ account });
      expect([await received(data), kindsSince(before)]).toEqual([10n ** 15n, 1]);
    });

    test('the bundler never got it: trying again sends the same operation', async () => {
      world.upstream.set('down', 'eth_sendUserOperation');
      const data = native();
      const before = sent().length;
      const { told } = await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await press(page, 'approve');
      expect(await part(page, 'pending')).toContain('The payment is signed and may be on its way.');
      expect(await received(data)).toBe(0n);
      world.upstream.set();
      await press(page, 'again');
      expect((await told).details).toMatchObject({ account });
      expect(await received(data)).toBe(10n ** 15n);
      expect([sent().length - before, kindsSince(before)]).toEqual([2, 1]);
    });

    test('a window that is closed on the way: the same request gets the receipt, and pays no second time', async () => {
      const { release } = keepSent(world);
      const data = native();
      const id = 'order-closed';
      const count = sent().length;
      const other = await openShop(world);
      await buy(other, { method, data, id });
      const page = await confirmWindow(world, passkeys);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      await other.close();
      await release();
      const again = await buy(shop, { method, data, id });
      expect((await again.told).details).toMatchObject({ account });
      expect([kindsSince(count), await received(data)]).toEqual([1, 10n ** 15n]);
      await windowsGone(world);
      // The same id for something else is refused.
      const elsewhere = native();
      await buy(shop, { method, data: elsewhere, id });
      const second = await confirmWindow(world, passkeys);
      expect(await part(second, 'problem')).toContain('The shop reused the id of another payment');
      await press(second, 'leave');
      await dismissed(second);
      expect(await received(elsewhere)).toBe(0n);
    });

    test('a page that is reloaded on the way goes on where it was', async () => {
      const { release } = keepSent(world);
      const data = native();
      const { told } = await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      await release();
      await page.reload();
      expect((await told).details).toMatchObject({ account });
      expect(await received(data)).toBe(10n ** 15n);
    });

    test('a worker that the browser ended: nothing is sent', async () => {
      const data = native();
      const count = sent().length;
      await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await part(page, 'review');
      const session = await page.createCDPSession();
      await session.send('ServiceWorker.enable');
      await session.send('ServiceWorker.stopAllWorkers');
      await press(page, 'approve');
      expect(await part(page, 'problem')).toContain('Nothing was paid');
      expect([sent().length, await received(data)]).toEqual([count, 0n]);
    });

    test('a worker that the browser ended once the payment was sent: the page still says how it ends', async () => {
      const { release } = keepSent(world);
      const data = native();
      const count = sent().length;
      await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      const session = await page.createCDPSession();
      await session.send('ServiceWorker.enable');
      await session.send('ServiceWorker.stopAllWorkers');
      await release();
      await page.reload();
      expect(await part(page, 'done')).toContain('The shop can ask for it again');
      expect([kindsSince(count), await received(data)]).toEqual([1, 10n ** 15n]);
    });

    test('a transfer that reverts is told before it is signed', async () => {
      // The registry takes no ether.
      const data = native({ to: world.contracts.didRegistry });
      await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      expect(await part(page, 'problem')).toContain('The network refused the payment');
    });

    test('by the keyboard alone, and as a screen reader has it', async () => {
      const data = native();
      const { told } = await buy(shop, { method, data });
      const page = await confirmWindow(world, passkeys);
      await awaitSelector(page, '#approve:not([disabled])');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('review-title');
      const tree = JSON.stringify(await page.accessibility.snapshot());
      for (const name of ['Pay 0.001 ETH', `Pay 0.001 ETH to ${new URL(world.shop).host}`, 'Cancel']) {
        expect(tree).toContain(name);
      }
      expect(await page.$eval('#status', (element) => element.textContent)).toBe('Pay 0.001 ETH');
      // The details come before it.
      for (const _ of [1, 2]) await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('approve');
      await page.keyboard.press('Enter');
      expect((await told).details).toMatchObject({ account });
      expect(await received(data)).toBe(10n ** 15n);
    });

    test('an account is found by its passkey once the browser forgot it, registered nowhere, and pays before it exists', async () => {
      const others = createPasskeys();
      const data = native();
      const { told } = await buy(shop, { method, data });
      const page = await confirmWindow(world, others);
      await press(page, 'other');
      await makeNew(page);
      await part(page, 'review');
      const own = await page.$eval('#from', (element) => element.textContent ?? '');
      expect(own).not.toBe(account);
      await world.fund(own, { wei: ETHER });
      await forgetAccount(page, own);
      await page.reload();
      await press(page, 'other');
      await findAccount(page, 2);
      expect(await part(page, 'review')).toContain(own);
      expect(await world.chain.rpc('eth_getCode', [own, 'latest'])).toBe('0x');
      await press(page, 'approve');
      expect((await told).details).toMatchObject({ account: own });
      expect(await received(data)).toBe(10n ** 15n);
    });
  });
}
