import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { USDC } from '../../scripts/dev-stack/usdc.ts';
import {
  awaitSelector,
  closeWindows,
  confirmWindow,
  createPasskeys,
  makeNew,
  openShop,
  type PayData,
  part,
  press,
  startShop,
} from '../support/pay.ts';
import { type ServedPages, servePayPages } from '../support/pay-page/serve.ts';

const TO = '0x52908400098527886E0F7030069857D2E4169EE7';

describe.skipIf(!chromium)('in Chromium', () => {
  let own: OwnBrowser;
  let pages: ServedPages;
  const passkeys = createPasskeys();
  beforeAll(async () => {
    [own, pages] = await Promise.all([startShell(), servePayPages()]);
  });
  afterEach(() => closeWindows({ own }));
  afterAll(async () => {
    await own.close();
    await pages.stop();
  });

  let orders = 0;
  const open = async (more: PayData = {}, prepare?: (page: Page) => Promise<unknown>): Promise<Page> => {
    const data = { to: TO, amount: '1250000', token: USDC, chainId: 84532, label: 'Tea', ...more };
    const text = JSON.stringify({ id: `order-${orders++}`, data, returnUrl: 'https://shop.example/' });
    const page = await own.browser.newPage();
    await passkeys.attach(page);
    await prepare?.(page);
    const request = encodeURIComponent(Buffer.from(text).toString('base64'));
    await page.goto(`${pages.origin}/pay/confirm?mode=redirect&request=${request}`);
    return page;
  };
  const text = (page: Page, id: string) => page.$eval(`#${id}`, (one) => one.textContent ?? '');
  const linesOf = (page: Page, id: string) =>
    page.$eval(`#${id}`, (one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size;
    });
  const fund = (account: string) => {
    for (const { balances } of pages.vault.tokens.values()) balances.set(account.toLowerCase(), 10n ** 18n);
  };

  test('where the money goes stands in a code that is drawn, and the address beside it', async () => {
    const page = await open();
    await makeNew(page);
    await part(page, 'review');
    const account = await text(page, 'from');
    await press(page, 'add');
    await awaitSelector(page, '#funds-code path');
    expect(await text(page, 'funds-whole')).toBe(account);
    fund(account);
    // The page notices that it came.
    await part(page, 'review');
  });

  test('a code that cannot be loaded leaves the address', async () => {
    const page = await open({ amount: '9000000000000000000' });
    await awaitSelector(page, '#add');
    await page.setRequestInterception(true);
    page.on('request', (one) => void (one.url().endsWith('/qr.js') ? one.abort() : one.continue()));
    const failed = new Promise((resolve) => page.once('requestfailed', resolve));
    await press(page, 'add');
    await failed;
    expect(await part(page, 'funds')).toContain('Copy address');
    expect(await page.$eval('#funds-code', (one) => one.checkVisibility())).toBe(false);
  });

  test('a browser that remembers nothing is asked for nothing', async () => {
    const { asked } = pages.vault;
    const before = asked.length;
    const page = await open({}, (one) =>
      one.evaluateOnNewDocument(() => {
        IDBFactory.prototype.open = () => {
          throw new DOMException('no', 'InvalidStateError');
        };
      }),
    );
    expect(await part(page, 'problem')).toContain('This window cannot store data');
    expect(asked.slice(before).filter(({ pathname }) => pathname.startsWith('/api/'))).toEqual([]);
  });

  test('Enter, Space and a click do nothing before the button has been seen for a moment', async () => {
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
    expect(pages.vault.sent).toEqual([]);
  });

  describe('what is approved is on the first screen', () => {
    test('of phones, tablets and windows, with the sum and the payee in the button', async () => {
      const page = await open({ label: 'W'.repeat(80), amount: '2345678' });
      for (const [width, height] of [
        [360, 640],
        [320, 300],
        // At 200 %.
        [180, 320],
        [608, 443],
        [768, 1024],
        [1280, 800],
      ] as const) {
        await page.setViewport({ width, height });
        await awaitSelector(page, '#approve:not([disabled])');
        expect(await text(page, 'approve')).toBe('Pay 2.345678 USDC to 0x529084…9EE7');
        const { top, bottom, left, right, isHit, scrolled } = await page.$eval('#approve', (button) => {
          const box = button.getBoundingClientRect();
          const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
          const { scrollTop: scrolled } = document.documentElement;
          const { top, bottom, left, right } = box;
          return { top, bottom, left, right, isHit: button.contains(hit), scrolled };
        });
        expect([width, scrolled, isHit]).toEqual([width, 0, true]);
        expect(Math.min(top, left)).toBeGreaterThanOrEqual(0);
        expect(bottom).toBeLessThanOrEqual(height);
        expect(right).toBeLessThanOrEqual(width);
        // Room is left for what is read: the button's bar takes at most half of it.
        const bar = await page.$eval('.bar', (one) => one.getBoundingClientRect().height);
        expect(Math.max(bar, bottom - top)).toBeLessThanOrEqual(height / 2);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      }
    });

    test('an amount stays in one piece, as a part of it would be another amount', async () => {
      const page = await open({ token: 'native', amount: '1000' });
      await page.setViewport({ width: 360, height: 640 });
      await part(page, 'review');
      expect(await text(page, 'amount')).toBe('0.000000000000001');
      expect(await linesOf(page, 'amount')).toBe(1);
    });

    test("a shop's label stays on one line, and the whole of it is in reach of a reader", async () => {
      const label = `Two teas ${'and more '.repeat(7)}To 0x52`;
      const page = await open({ label });
      await page.setViewport({ width: 360, height: 640 });
      await part(page, 'review');
      expect(await linesOf(page, 'label')).toBe(1);
      expect(await text(page, 'label')).toBe(label.trim());
    });

    test('who pays is read in full, also by the name that the page gives a new account', async () => {
      const page = await open();
      await page.setViewport({ width: 360, height: 640 });
      await part(page, 'review');
      expect(await text(page, 'payer')).toMatch(/^Account of \w+ \d+, \d{4}, /);
      for (const width of [320, 360]) {
        await page.setViewport({ width, height: 640 });
        const isCut = await page.$eval('#payer', (one) => {
          const { scrollWidth = 1, clientWidth = 0 } = one.closest('dd') ?? {};
          return scrollWidth > clientWidth;
        });
        expect([width, isCut]).toEqual([width, false]);
      }
    });

    test('whom a link names is in no bold letters', async () => {
      const page = await open();
      await part(page, 'review');
      expect(await page.$eval('#asker', (one) => getComputedStyle(one).fontWeight)).toBe('400');
    });

    test('whom they pay, however long the name of the host, and the address below Details', async () => {
      const served = startShop();
      const long = 'the-very-long-name-of-a-tea-house-by-the-market.shops.example.localhost';
      const shop = served.url.replace('localhost', long);
      const opener = await openShop({ own, shop });
      const to = `0x${'b0b'.padStart(40, '0')}`;
      await opener.evaluate(
        (url, message, origin) => {
          const popup = window.open(url, 'vault-pay', 'popup');
          addEventListener('message', () => popup?.postMessage(message, origin));
        },
        `${pages.origin}/pay/confirm?mode=popup&origin=${encodeURIComponent(shop)}`,
        {
          ...{ vault: 'pay', type: 'request', id: 'long-1' },
          data: { to, amount: '1000', token: 'native', chainId: 84532 },
          total: undefined,
        },
        pages.origin,
      );
      const page = await confirmWindow({ own }, passkeys);
      await awaitSelector(page, '#approve:not([disabled])');
      expect(await text(page, 'approve')).toBe(`Pay 0.000000000000001 ETH to ${new URL(shop).host}`);
      expect((await text(page, 'to')).toLowerCase()).toBe(to);
      for (const width of [320, 360]) {
        await page.setViewport({ width, height: 640 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        const cut = await page.$eval('#approve', (one) => one.scrollWidth > one.clientWidth);
        expect([width, cut]).toEqual([width, false]);
      }
      // German's long word stays whole, and a value is on the side of the page's language.
      const lines = await page.$$eval('#review dt', (all) => {
        const [term] = all.filter((one) => one.textContent === 'Network fee');
        if (!term) return 0;
        term.textContent = 'Netzwerkgebühr';
        const text = document.createRange();
        text.selectNodeContents(term);
        return text.getClientRects().length;
      });
      expect(lines).toBe(1);
      await page.evaluate(() => Object.assign(document.documentElement, { dir: 'rtl' }));
      const side = () => page.$eval('#review dd', (one) => getComputedStyle(one).textAlign);
      expect(await side()).toBe('left');
      await page.setViewport({ width: 320, height: 640 });
      expect(await side()).toBe('right');
      await served.stop();
    });
  });
});
