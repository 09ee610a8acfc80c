import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import {
  awaitSelector,
  closeWindows,
  createPasskeys,
  makeAccount,
  type PayWorld,
  part,
  press,
  startPayWorld,
} from '../support/pay.ts';

const MINUTE = 60_000;

if (chromium) {
  describe('a link to pay', () => {
    let world: PayWorld;
    const passkeys = createPasskeys();
    beforeAll(async () => {
      world = await startPayWorld();
      await makeAccount(world, passkeys);
    });
    afterAll(() => world.stop());
    afterEach(async () => {
      world.upstream.set();
      await closeWindows(world);
    });

    let payees = 0x11c0000;
    const order = (id: string, more: object = {}) => ({
      id,
      data: {
        to: `0x${(payees++).toString(16).padStart(40, '0')}`,
        amount: '1000000000000000',
        token: 'native',
        chainId: 84532,
        ...more,
      },
      returnUrl: world.shop,
    });
    /** The clock of a page that is opened or reloaded goes so many milliseconds ahead of this machine's. */
    const advance = (page: Page, ms: number) =>
      page.evaluateOnNewDocument((by) => {
        const now = Date.now;
        Date.now = () => now() + by;
      }, ms);
    const open = async (request: object, ahead = 0) => {
      const page = await world.own.browser.newPage();
      await passkeys.attach(page);
      await advance(page, ahead);
      const text = encodeURIComponent(Buffer.from(JSON.stringify(request)).toString('base64'));
      await page.goto(`${world.origin}/pay/confirm?mode=redirect&request=${text}`);
      return page;
    };

    test('ends four minutes after its first opening on this device, however often it is opened', async () => {
      const request = order('old');
      await part(await open(request), 'review');
      await part(await open(request, 2 * MINUTE), 'review');
      const late = await open(request, 4 * MINUTE + 1_000);
      expect(await part(late, 'problem')).toContain('The request has expired. Nothing was paid.');
      // The shop made another one for the same order.
      const fresh = { ...request, data: { ...request.data, expires: new Date(Date.now() + 9 * MINUTE).toISOString() } };
      await part(await open(fresh, 4 * MINUTE + 1_000), 'review');
      // A device that never opened it.
      await late.evaluate(() => localStorage.clear());
      await late.reload();
      await part(late, 'review');
    });

    test('a page that sent its payment and is reloaded after the end never says that nothing was paid', async () => {
      world.upstream.set('down', 'eth_getUserOperationReceipt');
      const request = order('reloaded', { expires: new Date(Date.now() + 3 * MINUTE).toISOString() });
      const page = await open(request);
      await press(page, 'approve');
      await awaitSelector(page, '#step-block[aria-current]');
      await advance(page, 5 * MINUTE);
      world.upstream.set();
      await page.reload();
      expect(await part(page, 'done')).toContain('Paid');
      expect(await world.balanceOf(request.data.to, 'native')).toBe(10n ** 15n);
    });

    test('may name any shop: the page names none as the asker, and says that nobody vouches for it', async () => {
      const request = {
        ...order('spoofed', { label: 'Amazon order 111' }),
        returnUrl: 'https://www.amazon.com/thanks',
      };
      const page = await open(request);
      const shown = await part(page, 'review');
      expect(shown).toContain('nobody vouches for it');
      expect(shown).not.toContain('Requested by');
      const names = await page.$$eval('#review *', (all) =>
        all
          .filter((one) => one.children.length === 0 && /amazon\.com/.test(one.textContent ?? ''))
          .map((one) => Number(getComputedStyle(one).fontWeight)),
      );
      expect(names.length).toBeGreaterThan(0);
      expect(Math.max(...names)).toBe(400);
    });
  });
}
