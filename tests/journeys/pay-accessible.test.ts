import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { contrasts, spoken, tabOrder } from '../support/accessible.ts';
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

if (chromium) {
  describe('the confirm page for everybody', () => {
    let world: PayWorld;
    const passkeys = createPasskeys();
    let id = 0;
    beforeAll(async () => {
      world = await startPayWorld();
    });
    afterAll(() => world.stop());
    afterEach(() => closeWindows(world));

    const open = async (more: object = {}, prepare?: (page: Page) => Promise<unknown>): Promise<Page> => {
      const data = {
        to: `0x${'a1'.repeat(20)}`,
        amount: '1000',
        token: 'native',
        chainId: 84532,
        label: 'Tea',
        ...more,
      };
      const text = JSON.stringify({ id: `seen-${id++}`, data, returnUrl: world.shop });
      const request = encodeURIComponent(Buffer.from(text).toString('base64'));
      const page = await world.own.browser.newPage();
      await passkeys.attach(page);
      await prepare?.(page);
      await page.goto(`${world.origin}/pay/confirm?mode=redirect&request=${request}`);
      return page;
    };
    const paint = (page: Page, value: string) => page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);

    test('a browser that remembers nothing is asked for nothing', async () => {
      const page = await open({}, (before) =>
        before.evaluateOnNewDocument(() => {
          IDBFactory.prototype.open = () => {
            throw new DOMException('no', 'InvalidStateError');
          };
        }),
      );
      expect(await part(page, 'problem')).toContain('This window cannot store data');
      expect(world.upstream.calls).toEqual([]);
    });

    test('the first visit, by Tab and by name', async () => {
      const page = await open();
      await part(page, 'setup');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('setup-title');
      expect(await tabOrder(page, 3)).toEqual(['find', 'newcomer', 'setup-cancel']);
      const words = await spoken(page);
      for (const one of ['heading: Pay with your passkey', 'button: Use my passkey', 'button: Cancel'])
        expect(words).toContain(one);
      await press(page, 'newcomer');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('new-title');
      expect(await tabOrder(page, 3)).toEqual(['name', 'create', 'new-back']);
      const more = await spoken(page);
      for (const one of [
        'heading: A new, empty account',
        'textbox: Name of a new account',
        'button: Create an account',
      ])
        expect(more).toContain(one);
    });

    describe('what is approved', () => {
      beforeAll(async () => {
        await makeAccount(world, passkeys);
      });

      test('by Tab and by name: no control without one, warnings as a list that is announced', async () => {
        const page = await open();
        await awaitSelector(page, '#approve:not([disabled])');
        expect(await page.evaluate(() => document.activeElement?.id)).toBe('review-title');
        expect(await tabOrder(page, 4)).toEqual(['', 'approve', 'other', 'cancel']);
        const words = await spoken(page);
        expect(words).toContain('heading: Pay 0.000000000000001 ETH');
        for (const role of ['alert', 'list', 'listitem', 'term', 'definition', 'status']) {
          expect(words.map((word) => word.split(':')[0])).toContain(role);
        }
        expect(words.filter((word) => /^(button|link|combobox|heading): $/.test(word))).toEqual([]);
      });

      test.each(['light', 'dark'])('all text can be read, %s', async (scheme) => {
        for (const [more, shown] of [
          [{}, '#approve:not([disabled])'],
          [{ chainId: 1 }, '#leave-link'],
        ] as const) {
          const page = await open(more, (before) => paint(before, scheme));
          await awaitSelector(page, shown);
          const all = await contrasts(page);
          expect(all.length).toBeGreaterThan(4);
          expect(all.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
          await page.close();
        }
      });

      test.each(['light', 'dark'])('funds, accounts and the receipt can be read, %s', async (scheme) => {
        const page = await open({ amount: String(10n ** 30n) }, (before) => paint(before, scheme));
        const readable = async (shown: string) => {
          await awaitSelector(page, shown);
          expect((await contrasts(page)).filter(({ ratio }) => ratio < 4.5)).toEqual([]);
        };
        await readable('#add');
        await press(page, 'add');
        await readable('#funds-code path');
        expect(await page.evaluate(() => document.activeElement?.id)).toBe('funds-title');
        expect(await spoken(page)).toContain('image: QR code of the address');
        await press(page, 'funds-back');
        await press(page, 'other');
        await readable('#accounts button');
        expect((await spoken(page)).some((word) => /^button: Rename \S/.test(word))).toBe(true);
        expect((await spoken(page)).filter((word) => /^(button|link|textbox|heading): $/.test(word))).toEqual([]);
        await page.close();
        const paid = await open({}, (before) => paint(before, scheme));
        await press(paid, 'approve');
        await awaitSelector(paid, '#receipt dd');
        expect((await contrasts(paid)).filter(({ ratio }) => ratio < 4.5)).toEqual([]);
        expect((await spoken(paid)).filter((word) => /^(button|link): $/.test(word))).toEqual([]);
      });

      test('on a narrow screen nothing is cut off, whatever a shop writes', async () => {
        const page = await open({ label: 'W'.repeat(80) });
        await page.setViewport({ width: 320, height: 600 });
        await awaitSelector(page, '#approve:not([disabled])');
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
      });

      test('nothing turns for whoever wants no motion', async () => {
        const page = await open();
        await part(page, 'review');
        const motion = async (value: string) => {
          await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value }]);
          return page.$eval('.spinner', (element) => getComputedStyle(element).animationName);
        };
        expect([await motion('no-preference'), await motion('reduce')]).toEqual(['turn', 'none']);
      });

      test('Enter and Space do nothing before the button has been seen for a moment', async () => {
        world.upstream.calls.length = 0;
        const page = await open();
        // The page's own timers stand still from here on, so the moment never passes.
        await part(page, 'review');
        await page.evaluate(() => {
          window.setTimeout = (() => 0) as never;
          window.dispatchEvent(new Event('focus'));
          document.getElementById('approve')?.focus();
        });
        for (const key of ['Enter', 'Space'] as const) await page.keyboard.press(key);
        await page.click('#approve');
        expect(await page.$eval('#approve', (button) => (button as HTMLButtonElement).disabled)).toBe(true);
        expect(world.upstream.calls.filter(({ method }) => method === 'eth_sendUserOperation')).toEqual([]);
        await page.close();
      });
    });
  });
}
