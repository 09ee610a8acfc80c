import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import {
  awaitSelector,
  closeWindows,
  createPasskeys,
  makeAccount,
  makeNew,
  openShop,
  type PayData,
  type PayWorld,
  part,
  press,
  startPayWorld,
} from '../support/pay.ts';
import { heardBy, hears, keepSent, openLink, openPopup, outcomeOf, recordTexts, skip } from '../support/pay-windows.ts';

const SEND = 'eth_sendUserOperation';
const ETHER = 10n ** 18n;

if (chromium) {
  describe('what a bundler says of a payment decides nothing', () => {
    let world: PayWorld;
    let shop: Page;
    let account: string;
    const passkeys = createPasskeys();
    const pages: Page[] = [];
    beforeAll(async () => {
      world = await startPayWorld();
      account = await makeAccount(world, passkeys);
    });
    afterAll(() => world.stop());
    beforeEach(async () => {
      shop = await openShop(world);
    });
    afterEach(async () => {
      world.upstream.set();
      for (const page of pages.splice(0)) await page.close().catch(() => undefined);
      await shop.close();
      await closeWindows(world);
    });

    let orders = 0;
    const newOrder = (more: PayData = {}) => {
      const to = `0x${(0xabc0000 + ++orders).toString(16).padStart(40, '0')}`;
      return {
        id: `order-${orders}`,
        data: { to, amount: '1000000000000000', token: 'native', chainId: 84532, ...more },
      };
    };
    const received = ({ data }: { data: PayData }) => world.balanceOf(String(data['to']), 'native');
    const popup = async (order: ReturnType<typeof newOrder>, name?: string) => {
      const page = await openPopup(world, shop, passkeys, name === undefined ? { order } : { order, name });
      pages.push(page);
      return page;
    };
    const link = async (order: ReturnType<typeof newOrder>) => {
      const page = await openLink(world, passkeys, order);
      pages.push(page);
      return page;
    };

    const keep = (answer?: object) => keepSent(world, answer);
    const refusal = (code: number, message: string) => ({ error: { code, message } });

    test.each([
      [-32603, 'internal error'],
      [-32000, 'unknown error'],
      [-32501, 'paymaster unknown: policy not found'],
      [-32500, 'AA33 reverted: nonce already used'],
      [-32602, 'invalid params'],
    ])(
      'a bundler that takes the payment and answers %p %p: never called refused, and paid in the end',
      async (code, message) => {
        world.upstream.answer = async ({ method, pass }) => {
          if (method !== SEND) return undefined;
          await pass();
          return refusal(code, message);
        };
        const order = newOrder();
        const page = await popup(order);
        await awaitSelector(page, '#approve:not([disabled])');
        const texts = await recordTexts(page);
        await press(page, 'approve');
        await part(page, 'done');
        expect(await texts()).not.toContain('Nothing was paid');
        const { details } = await hears(shop, 'answer');
        expect(details).toMatchObject({ account, token: 'native' });
        expect((await heardBy(shop)).map(({ type }) => type)).toEqual(['pending', 'answer']);
        expect(await received(order)).toBe(10n ** 15n);
      },
    );

    /** From here on the page hears that the account has another key, as after its passkey was removed elsewhere. */
    const loseKey = (page: Page) =>
      page.evaluate(() => {
        const fetchTruly = window.fetch;
        const patched = async (...call: Parameters<typeof fetch>) => {
          const response = await fetchTruly(...call);
          if (!String(call[0]).startsWith('/api/accounts/state')) return response;
          const other = `0x${'1'.repeat(64)}`;
          const keys = [{ index: 0, x: other, y: other, addedAt: null, label: null, synced: null }];
          return Response.json({ ...(await response.json()), kind: 2, pubKeyX: other, pubKeyY: other, keys });
        };
        Object.assign(window, { fetch: patched });
      });

    test('a passkey that its account no longer has: trying again says so, and signs nothing', async () => {
      // The first payment puts the account on-chain.
      await press(await popup(newOrder()), 'approve');
      await hears(shop, 'answer');
      const page = await popup(newOrder(), 'second');
      await awaitSelector(page, '#approve:not([disabled])');
      await loseKey(page);
      const { operations } = keep(refusal(-32504, 'throttled'));
      await press(page, 'approve');
      await part(page, 'pending');
      await press(page, 'again');
      await awaitSelector(page, '#pending-notice:not([hidden])');
      const notice = await page.$eval('#pending-notice', (element) => element.textContent);
      expect(notice).toBe('This passkey does not open its account now. Nothing was signed.');
      expect(operations).toHaveLength(1);
    });

    test('a bundler that refuses, keeps the bytes and includes them later: not confirmed until then, and paid then', async () => {
      const { operations, release } = keep(refusal(-32504, 'throttled'));
      const order = newOrder();
      const page = await popup(order);
      await press(page, 'approve');
      expect(await part(page, 'pending')).toContain('It may still be paid.');
      expect(await page.$eval('#pending-detail', (element) => element.textContent)).toContain('throttled');
      const { details } = await hears(shop, 'pending');
      expect(details).toMatchObject({ account, userOpHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
      const { signature = '' } = operations[0] ?? {};
      expect(details?.['endsAt']).toBe(Number.parseInt(signature.slice(4, 16), 16));
      await release();
      await part(page, 'done');
      expect((await hears(shop, 'answer')).details).toMatchObject({ userOpHash: details?.['userOpHash'] ?? '' });
      expect(await received(order)).toBe(10n ** 15n);
    });

    test('tried again with the same nonce after a refusal: the money moves once, whichever is included', async () => {
      const { operations, release } = keep(refusal(-32504, 'throttled'));
      const order = newOrder();
      const page = await popup(order);
      await press(page, 'approve');
      await part(page, 'pending');
      world.upstream.answer = undefined;
      await press(page, 'again');
      await part(page, 'done');
      const again = world.upstream.calls.filter(({ method }) => method === SEND).at(-1);
      expect(again?.params[0]).toMatchObject({ nonce: operations[0]?.['nonce'] ?? '' });
      await release();
      expect(await received(order)).toBe(10n ** 15n);
    });

    test('what trying again runs into is shown, and can be tried again', async () => {
      keep(refusal(-32504, 'throttled'));
      const order = newOrder();
      const page = await popup(order);
      await press(page, 'approve');
      await part(page, 'pending');
      await passkeys.allow(false);
      await press(page, 'again');
      await awaitSelector(page, '#pending-notice');
      expect(await part(page, 'pending-notice')).toBe('Your passkey was not used. Nothing was changed.');
      await passkeys.allow(true);
      world.upstream.set('down', 'pm_sponsorUserOperation');
      await press(page, 'again');
      await page.waitForFunction(() =>
        document.getElementById('pending-notice')?.textContent?.includes('cannot be reached'),
      );
      world.upstream.set();
      await press(page, 'again');
      await part(page, 'done');
      expect(await received(order)).toBe(10n ** 15n);
    });

    test('left while it is not confirmed: the shop hears so, and the same request shows what became of it', async () => {
      const { release } = keep(refusal(-32504, 'throttled'));
      const order = newOrder();
      const page = await popup(order);
      await press(page, 'approve');
      await part(page, 'pending');
      await press(page, 'pending-leave');
      expect(await hears(shop, 'cancel')).toMatchObject({ reason: 'unconfirmed' });
      const linked = await link(order);
      await part(linked, 'pending');
      await press(linked, 'pending-leave');
      expect(await part(linked, 'problem')).toContain('Not confirmed yet');
      expect(await outcomeOf(linked, 'leave-link')).toMatchObject({
        id: order.id,
        error: 'unconfirmed',
        userOpHash: (await heardBy(shop))[0]?.details?.['userOpHash'],
      });
      await release();
      await part(linked, 'done');
      expect(await outcomeOf(linked, 'return')).toMatchObject({ id: order.id, account });
      expect(await received(order)).toBe(10n ** 15n);
    });

    test("a bundler's receipt, of this hash or another, makes nothing paid", async () => {
      const txHash = `0x${'ab'.repeat(32)}`;
      world.upstream.answer = async ({ method, params }) => {
        if (method === SEND) return { result: `0x${'cd'.repeat(32)}` };
        if (method !== 'eth_getUserOperationReceipt') return undefined;
        const receipt = { transactionHash: txHash, status: '0x1', blockHash: txHash, blockNumber: '0x1', logs: [] };
        return { result: { userOpHash: params[0], sender: account, success: true, receipt } };
      };
      const order = newOrder();
      const page = await popup(order);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      await Bun.sleep(4_000);
      expect((await heardBy(shop)).map(({ type }) => type)).toEqual(['pending']);
      await world.later(300);
      expect(await part(page, 'problem')).toContain('Nothing was paid');
      expect(await received(order)).toBe(0n);
    });

    test('its time is over, and the block is final: nothing was paid, and the same request can be paid', async () => {
      const { operations, release } = keep();
      const order = newOrder();
      const page = await popup(order);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      expect(operations).toHaveLength(1);
      await world.later(300);
      expect(await part(page, 'problem')).toContain('It can no longer be paid');
      await press(page, 'leave');
      expect(await hears(shop, 'cancel')).toMatchObject({ reason: 'ended' });
      // The bytes are of no use to anybody now.
      expect(await release()).toEqual([expect.objectContaining({ error: expect.anything() })]);
      expect(await received(order)).toBe(0n);
      const second = await link(order);
      await press(second, 'approve');
      await part(second, 'done');
      expect(await received(order)).toBe(10n ** 15n);
    });

    test('stuck at a low fee: at a higher one it is paid, once', async () => {
      const { operations, release } = keep();
      const order = newOrder();
      const page = await popup(order);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      await skip(page, 50_000);
      expect(await part(page, 'pending')).toContain('This takes longer than usual.');
      world.upstream.answer = undefined;
      await press(page, 'raise');
      await part(page, 'done');
      const raised = world.upstream.calls.filter(({ method }) => method === SEND).at(-1)?.params[0] as Record<
        string,
        string
      >;
      const [first] = operations;
      expect(raised['nonce']).toBe(first?.['nonce'] ?? '');
      expect(raised['callData']).toBe(first?.['callData'] ?? '');
      for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas']) {
        expect(BigInt(raised[fee] ?? 0) * 8n).toBeGreaterThanOrEqual(BigInt(first?.[fee] ?? 0) * 9n);
      }
      await release();
      expect(await received(order)).toBe(10n ** 15n);
      expect((await hears(shop, 'answer')).details).toMatchObject({ account });
    });

    test('cancelled by an empty call of the same nonce: said once it is final, and it can no longer be paid', async () => {
      const { operations, release } = keep();
      const order = newOrder();
      const page = await popup(order);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      await skip(page, 50_000);
      await part(page, 'pending');
      world.upstream.answer = undefined;
      await press(page, 'void');
      expect(await part(page, 'problem')).toContain('Nothing was paid.');
      const empty = world.upstream.calls.filter(({ method }) => method === SEND).at(-1)?.params[0] as Record<
        string,
        string
      >;
      expect(empty['nonce']).toBe(operations[0]?.['nonce'] ?? '');
      await press(page, 'leave');
      expect(await hears(shop, 'cancel')).toMatchObject({ reason: 'voided' });
      await release();
      expect(await received(order)).toBe(0n);
    });

    test('with less than 90 seconds left nothing is signed', async () => {
      const count = world.upstream.calls.filter(({ method }) => method === SEND).length;
      const order = newOrder({ expires: new Date(Date.now() + 80_000).toISOString() });
      const page = await popup(order);
      expect(await part(page, 'problem')).toContain('The request ends in less than 90 seconds');
      // One whose time ran down while it was read.
      const slow = await popup(newOrder(), 'slow');
      await awaitSelector(slow, '#approve:not([disabled])');
      await skip(slow, 160_000);
      await press(slow, 'approve');
      expect(await part(slow, 'problem')).toContain('The request ends in less than 90 seconds');
      expect(world.upstream.calls.filter(({ method }) => method === SEND).length).toBe(count);
    });

    test('the vault cannot be reached after it was sent, and the page is loaded again: nothing is said of nothing paid', async () => {
      const { release } = keep();
      const order = newOrder();
      const page = await link(order);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      await page.setRequestInterception(true);
      let isAway = true;
      page.on('request', (request) => {
        const isCall = isAway && ['/pay/config', '/pay/outcome'].includes(new URL(request.url()).pathname);
        void (isCall ? request.abort() : request.continue());
      });
      await page.reload();
      const words = await part(page, 'problem');
      expect(words).toContain('The network cannot be reached');
      expect(words).not.toContain('Nothing was paid');
      isAway = false;
      await release();
      await press(page, 'retry');
      await part(page, 'done');
      expect(await received(order)).toBe(10n ** 15n);
    });

    test('a popup that is loaded again after its shop has gone goes on with what it sent', async () => {
      const { release } = keep();
      const order = newOrder();
      const other = await openShop(world);
      const page = await openPopup(world, other, passkeys, { order });
      pages.push(page);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      await other.close();
      await page.reload();
      await awaitSelector(page, '#step-block[aria-current]');
      await release();
      await part(page, 'done');
      expect(await received(order)).toBe(10n ** 15n);
    });

    describe('one order, one account', () => {
      test('cancelling in a second tab does not say that nothing was paid', async () => {
        const order = newOrder();
        const second = await link(order);
        await awaitSelector(second, '#approve:not([disabled])');
        const { release } = keep(refusal(-32504, 'throttled'));
        const first = await link(order);
        await press(first, 'approve');
        await part(first, 'pending');
        await second.bringToFront();
        await press(second, 'cancel');
        await part(second, 'pending');
        await release();
        await part(second, 'done');
      });

      /** Another account on this device, with money. */
      async function secondAccount(): Promise<{ address: string; keys: ReturnType<typeof createPasskeys> }> {
        const keys = createPasskeys();
        const page = await openLink(world, keys, newOrder());
        await press(page, 'other');
        await makeNew(page);
        await part(page, 'review');
        const address = await page.$eval('#from', (element) => element.textContent ?? '');
        await world.fund(address, { wei: ETHER });
        await page.close();
        return { address, keys };
      }

      test('while the first account’s payment is not confirmed, a second one cannot pay: not in a tab that was open, nor in a new one', async () => {
        const order = newOrder();
        const first = await link(order);
        await awaitSelector(first, '#approve:not([disabled])');
        const { address, keys } = await secondAccount();
        expect(address).not.toBe(account);
        // This tab shows the other account, which was used last.
        const second = await openLink(world, keys, order);
        pages.push(second);
        await awaitSelector(second, '#approve:not([disabled])');
        expect(await second.$eval('#from', (element) => element.textContent)).toBe(address);
        const { operations, release } = keep(refusal(-32504, 'throttled'));
        await first.bringToFront();
        await press(first, 'approve');
        await part(first, 'pending');
        await second.bringToFront();
        await press(second, 'approve');
        await part(second, 'pending');
        const third = await openLink(world, keys, order);
        pages.push(third);
        await part(third, 'pending');
        expect(new Set(operations.map(({ sender }) => sender?.toLowerCase()))).toEqual(
          new Set([account.toLowerCase()]),
        );
        await release();
        for (const page of [first, second, third]) {
          await page.bringToFront();
          await part(page, 'done');
        }
        expect(await received(order)).toBe(10n ** 15n);
      });
    });
  });
}
