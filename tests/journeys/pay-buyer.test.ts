import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { USDC } from '../../scripts/dev-stack/usdc.ts';
import {
  awaitSelector,
  closeWindows,
  createPasskeys,
  type Passkeys,
  type PayData,
  type PayWorld,
  part,
  press,
  startPayWorld,
} from '../support/pay.ts';

const TO = '0x52908400098527886E0F7030069857D2E4169EE7';

if (chromium) {
  let world: PayWorld;
  const passkeys = createPasskeys();
  let orders = 0;
  beforeAll(async () => {
    world = await startPayWorld({ pagesOnly: true });
  });
  afterAll(() => world.stop());
  afterEach(async () => {
    world.upstream.set();
    await closeWindows(world);
  });

  const tea = (more: PayData = {}) => ({
    to: TO,
    amount: '1250000',
    token: USDC,
    chainId: 84532,
    label: 'Tea',
    ...more,
  });
  const open = async (
    data: PayData,
    { of = passkeys, prepare }: { of?: Passkeys; prepare?: (page: Page) => Promise<unknown> } = {},
  ) => {
    const text = JSON.stringify({ id: `order-${orders++}`, data, returnUrl: world.shop });
    const page = await world.own.browser.newPage();
    await of.attach(page);
    await prepare?.(page);
    const request = encodeURIComponent(Buffer.from(text).toString('base64'));
    await page.goto(`${world.origin}/pay/confirm?mode=redirect&request=${request}`);
    return page;
  };
  const text = (page: Page, id: string) => page.$eval(`#${id}`, (one) => one.textContent ?? '');
  /** What the page copies: a headless window has no clipboard of its own. */
  const copied = async (page: Page, button: string) => {
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (words) => {
        document.documentElement.dataset['copied'] = words;
      };
    });
    await press(page, button);
    await page.waitForFunction((id) => document.getElementById(id)?.textContent === 'Copied', {}, button);
    return page.evaluate(() => document.documentElement.dataset['copied']);
  };
  /** Types a name into the field, in place of the suggested one. */
  const name = (page: Page, words: string) =>
    page.$eval('#name', (field, value) => ((field as HTMLInputElement).value = value), words);

  describe('a first account', () => {
    test('has the name that its person chose, in the page and in the passkey; persistence is asked for once it is there', async () => {
      const page = await open(tea(), {
        prepare: (before) =>
          before.evaluateOnNewDocument(() => {
            const seen: string[] = [];
            Object.assign(window, { seen });
            const { create } = navigator.credentials;
            navigator.credentials.create = (options) => {
              const { user, excludeCredentials = [] } = options?.publicKey ?? {};
              seen.push(`${user?.name}, ${user?.displayName}, ${excludeCredentials.length}`);
              return create.call(navigator.credentials, options);
            };
            navigator.storage.persist = async () => {
              seen.push('persist');
              return false;
            };
          }),
      });
      await press(page, 'newcomer');
      await part(page, 'new');
      await name(page, '  Tea \u2003 money ');
      await press(page, 'create');
      await part(page, 'review');
      expect(await text(page, 'payer')).toBe('Tea money');
      expect(await page.evaluate(() => (window as unknown as { seen: string[] }).seen)).toEqual([
        'Tea money, Tea money, 0',
        'persist',
      ]);
    });

    test('lacks money: the page says how much, shows where it goes, notices that it came, and goes on', async () => {
      const page = await open(tea());
      expect(await part(page, 'review')).toContain('Not enough USDC: 1.25 needed, 0 here.');
      const account = await text(page, 'from');
      await press(page, 'add');
      const shown = await part(page, 'funds');
      expect(shown).toContain('Send at least 1.25 USDC to this account, on Base Sepolia only.');
      expect(shown).toContain(`${account.slice(0, 8)}…${account.slice(-4)}`);
      expect(await text(page, 'funds-whole')).toBe(account);
      expect(await page.$eval('#funds-address', (one) => one.getAttribute('aria-label'))).toBe(account);
      await awaitSelector(page, '#funds-code path');
      expect(await copied(page, 'funds-copy')).toBe(account);
      // A part of it is not enough.
      await world.fund(account, { usdc: 1_000_000n });
      await page.waitForFunction(() =>
        document.getElementById('funds-wait')?.textContent?.includes('1 USDC here, 0.25 USDC still missing'),
      );
      await world.fund(account, { usdc: 4_000_000n });
      await part(page, 'review');
      await press(page, 'approve');
      expect(await part(page, 'done')).toContain('Paid 1.25 USDC');
    });

    test('a code that cannot be loaded leaves the address', async () => {
      const page = await open(tea({ amount: '900000000' }));
      await awaitSelector(page, '#add');
      await page.setRequestInterception(true);
      page.on('request', (one) => void (one.url().endsWith('/qr.js') ? one.abort() : one.continue()));
      const failed = new Promise((resolve) => page.once('requestfailed', resolve));
      await press(page, 'add');
      await failed;
      expect(await part(page, 'funds')).toContain('Copy address');
      expect(await page.$eval('#funds-code', (one) => one.checkVisibility())).toBe(false);
      await press(page, 'funds-back');
      expect(await part(page, 'review')).toContain('Not enough USDC: 900 needed');
    });

    test('lacks ether for the fee, without a sponsor: it says how much', async () => {
      world.upstream.set('refusing', 'pm_sponsorUserOperation');
      const page = await open(tea());
      expect(await part(page, 'review')).toMatch(/Not enough ETH for the network fee: 0\.\d+ needed, 0 here\./);
      await press(page, 'add');
      expect(await part(page, 'funds')).toMatch(/Send at least 0\.\d+ ETH to this account/);
    });
  });

  test('the receipt says how much, to whom, for what, when, which order and where; it can be copied', async () => {
    const page = await open(tea({ label: 'Green tea' }));
    await press(page, 'approve');
    const shown = await part(page, 'done');
    for (const words of ['Paid 1.25 USDC', TO, 'Green tea', `order-${orders - 1}`, String(new Date().getFullYear())]) {
      expect(shown).toContain(words);
    }
    const [link = {} as { href: string; rel: string }] = await page.$$eval('#receipt a', (all) =>
      all.map((one) => ({ href: (one as HTMLAnchorElement).href, rel: (one as HTMLAnchorElement).rel })),
    );
    expect(link.href).toMatch(/^https:\/\/sepolia\.basescan\.org\/tx\/0x[0-9a-f]{64}$/);
    expect(link.rel.split(' ')).toContain('noreferrer');
    const words = await copied(page, 'copy');
    for (const line of ['Amount: 1.25 USDC', `To: ${TO}`, 'For: Green tea', link.href]) expect(words).toContain(line);
    // A reload shows it again.
    await page.reload();
    expect(await part(page, 'done')).toContain('Paid 1.25 USDC');
  });

  describe('several accounts', () => {
    const other = createPasskeys();

    test('an authenticator that has a passkey of this device says so, and makes another one only when asked again', async () => {
      const page = await open(tea());
      await press(page, 'other');
      await press(page, 'newcomer');
      await part(page, 'new');
      await name(page, 'Second');
      await press(page, 'create');
      await awaitSelector(page, '#new-notice');
      expect(await text(page, 'new-notice')).toContain('This device has a passkey for one of your accounts already.');
      expect(passkeys.ids()).toHaveLength(1);
      await press(page, 'create');
      expect(await part(page, 'review')).toContain('Second');
      expect(passkeys.ids()).toHaveLength(2);
    });

    test('no two have one name', async () => {
      const page = await open(tea(), { of: other });
      await press(page, 'other');
      await press(page, 'newcomer');
      await part(page, 'new');
      expect(await page.$eval('#name', (field) => (field as HTMLInputElement).value)).toStartWith('Account of ');
      await name(page, 'Second');
      await press(page, 'create');
      await awaitSelector(page, '#new-notice');
      expect(await text(page, 'new-notice')).toContain('Another account here has this name.');
      expect(other.ids()).toEqual([]);
    });

    test('one with money enough is taken; the chooser shows names and balances, and has a way back', async () => {
      // The second one was used last, and holds nothing.
      const page = await open(tea());
      expect(await part(page, 'review')).toContain('Tea money');
      await press(page, 'other');
      await part(page, 'setup');
      const rows = await page.$$eval('#accounts li', (all) => all.map(({ textContent }) => textContent));
      expect(rows).toHaveLength(2);
      expect(rows[0]).toStartWith('Tea money');
      expect(rows[1]).toStartWith('Second');
      expect(rows[0]).toContain('2.5 USDC');
      expect(rows[1]).toContain('0 USDC');
      await press(page, 'setup-back');
      expect(await part(page, 'review')).toContain('Tea money');
      await press(page, 'other');
      await part(page, 'setup');
      await page.click('#accounts li:nth-child(2) button');
      const second = await part(page, 'review');
      expect(second).toContain('Second');
      expect(second).toContain('Not enough USDC: 1.25 needed, 0 here.');
    });

    test('a name can be changed, and stays changed', async () => {
      const page = await open(tea());
      await press(page, 'other');
      await part(page, 'setup');
      await page.click('#accounts li:nth-child(2) button.link');
      await page.keyboard.down('Control');
      await page.keyboard.press('KeyA');
      await page.keyboard.up('Control');
      await page.keyboard.type('Rainy days');
      await page.click('#accounts li:nth-child(2) button');
      await page.waitForFunction(() => document.querySelector('#accounts')?.textContent?.includes('Rainy days'));
      await page.reload();
      await press(page, 'other');
      expect(await part(page, 'setup')).toContain('Rainy days');
    });
  });

  describe('what is approved is on the first screen', () => {
    test.each([
      [360, 640],
      [320, 300],
      // At 200 %.
      [180, 320],
      [608, 443],
      [768, 1024],
      [1280, 800],
    ])('of %i × %i, with the sum and the payee in the button', async (width, height) => {
      const data = tea({ label: 'W'.repeat(80), amount: '2345678' });
      const page = await open(data, { prepare: (before) => before.setViewport({ width, height }) });
      await awaitSelector(page, '#approve:not([disabled])');
      expect(await text(page, 'approve')).toBe('Pay 2.345678 USDC to 0x529084…9EE7');
      const { top, bottom, left, right, isHit, scrolled } = await page.$eval('#approve', (button) => {
        const box = button.getBoundingClientRect();
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        const { scrollTop: scrolled } = document.documentElement;
        const { top, bottom, left, right } = box;
        return { top, bottom, left, right, isHit: button.contains(hit), scrolled };
      });
      expect([scrolled, isHit]).toEqual([0, true]);
      expect(Math.min(top, left)).toBeGreaterThanOrEqual(0);
      expect(bottom).toBeLessThanOrEqual(height);
      expect(right).toBeLessThanOrEqual(width);
      // Room is left for what is read: the button's bar takes at most half of it.
      const bar = await page.$eval('.bar', (one) => one.getBoundingClientRect().height);
      expect(Math.max(bar, bottom - top)).toBeLessThanOrEqual(height / 2);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    });

    test("a shop's label stays on one line, and the whole of it is in reach of a reader", async () => {
      const label = `Two teas ${'and more '.repeat(7)}To 0x52`;
      const page = await open(tea({ label }), { prepare: (before) => before.setViewport({ width: 360, height: 640 }) });
      await part(page, 'review');
      const lines = await page.$eval('#label', (one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        return new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size;
      });
      expect(lines).toBe(1);
      expect(await text(page, 'label')).toBe(label.trim());
    });
  });
}
