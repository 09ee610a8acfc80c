import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import type { BrowserContext, Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import {
  awaitSelector,
  confirmWindow,
  createPasskeys,
  makeNew,
  openShop,
  type Passkeys,
  type PayData,
  type PayWorld,
  part,
  press,
  startPayWorld,
} from '../support/pay.ts';
import { openLink } from '../support/pay-windows.ts';
import { addKey } from '../support/second-account.ts';

const ETHER = 10n ** 18n;

/** Who pays, as a shop says. */
interface Hint {
  readonly credentialId: string;
  readonly account: string;
  readonly pubKeyX?: string;
  readonly pubKeyY?: string;
}

/** Notes how many passkeys each prompt names, in `window.asked`. */
const countPrompts = (page: Page) =>
  page.evaluate(() => {
    const asked: number[] = [];
    Object.assign(window, { asked });
    const { get } = navigator.credentials;
    navigator.credentials.get = (options) => {
      asked.push(options?.publicKey?.allowCredentials?.length ?? 0);
      return get.call(navigator.credentials, options);
    };
  });

if (chromium) {
  describe('the payer whom a shop names', () => {
    let world: PayWorld;
    const contexts: BrowserContext[] = [];
    beforeAll(async () => {
      world = await startPayWorld({ pagesOnly: true });
    }, 120_000);
    afterAll(() => world.stop());
    afterEach(async () => {
      for (const context of contexts.splice(0)) await context.close();
    });

    let orders = 0;
    /** The page for a new order, on a device that has stored nothing; with `prompts`, whom the page asks for. */
    const open = async (passkeys: Passkeys, payer?: unknown, given?: BrowserContext) => {
      const context = given ?? (await world.own.browser.createBrowserContext());
      if (!given) contexts.push(context);
      const to = `0x${(0xca7e0000 + ++orders).toString(16).padStart(40, '0')}`;
      const data: PayData = { to, amount: String(ETHER / 1000n), token: 'native', chainId: 84532, payer };
      const page = await openLink(world, passkeys, { id: `payer-${orders}`, data }, context);
      await countPrompts(page);
      const prompts = () => page.evaluate(() => (window as unknown as { asked: number[] }).asked);
      return { page, context, prompts, received: () => world.balanceOf(to, 'native') };
    };
    const from = (page: Page) => page.$eval('#from', (element) => element.textContent ?? '');
    /** Somebody with an account that is not on-chain and registered nowhere. */
    const person = async (wei = ETHER) => {
      const passkeys = createPasskeys();
      const { page, context } = await open(passkeys);
      await makeNew(page);
      await part(page, 'review');
      const account = await from(page);
      await world.fund(account, { wei });
      const [credentialId = ''] = passkeys.ids();
      const [pubKeyX, pubKeyY] = [Hex.fromBytes(passkeys.key().x), Hex.fromBytes(passkeys.key().y)];
      const hint: Hint = { credentialId, account, pubKeyX, pubKeyY };
      return { passkeys, account, hint, context };
    };

    test('pays by one prompt on a device that never saw them, and is known there from then on', async () => {
      const { passkeys, account, hint } = await person();
      const { page, context, prompts, received } = await open(passkeys, hint);
      expect(await part(page, 'review')).toContain(account);
      await press(page, 'approve');
      await part(page, 'done');
      expect(await prompts()).toEqual([1]);
      expect(await received()).toBe(ETHER / 1000n);
      const later = await open(passkeys, undefined, context);
      expect(await part(later.page, 'review')).toContain(account);
    });

    test('whose key the shop does not know is asked for exactly that passkey', async () => {
      const { passkeys, account, hint } = await person();
      const { credentialId } = hint;
      const { page, prompts } = await open(passkeys, { credentialId, account });
      const shown = await part(page, 'setup');
      expect(shown).toContain('Pay with your passkey');
      expect(shown).not.toContain('I am new here');
      await press(page, 'find');
      // Nobody has registered here: the second signature is asked for in plain words.
      await awaitSelector(page, '#setup-notice.plain');
      expect(await part(page, 'setup-notice')).toBe('Please confirm once more, so that the right account is found.');
      await press(page, 'find');
      expect(await part(page, 'review')).toContain(account);
      expect(await prompts()).toEqual([1, 1]);
    });

    test('comes before another account that this device has', async () => {
      const [mine, other] = [await person(), await person()];
      const { page } = await open(mine.passkeys, mine.hint, other.context);
      expect(await part(page, 'review')).toContain(mine.account);
      await press(page, 'other');
      expect(await part(page, 'setup')).toContain('Which account pays?');
      await page.click('#accounts li button');
      expect(await part(page, 'review')).toContain(other.account);
    });

    test("is not believed: another's account under this passkey pays nothing, and the passkey finds its own", async () => {
      const [victim, mallory] = [await person(), await person()];
      const sent = () => world.upstream.calls.filter(({ method }) => method === 'eth_sendUserOperation').length;
      const before = sent();
      const { page, context, received } = await open(victim.passkeys, {
        ...mallory.hint,
        credentialId: victim.hint.credentialId,
      });
      expect(await part(page, 'review')).toContain(mallory.account);
      await press(page, 'approve');
      expect(await part(page, 'setup')).toContain('Pay with your passkey');
      expect(sent()).toBe(before);
      await press(page, 'find');
      await awaitSelector(page, '#setup-notice');
      await press(page, 'find');
      expect(await part(page, 'review')).toContain(victim.account);
      expect(await received()).toBe(0n);
      // What was not the person's was not kept.
      const later = await open(victim.passkeys, undefined, context);
      expect(await part(later.page, 'review')).toContain(victim.account);
      await press(later.page, 'other');
      expect(await part(later.page, 'setup')).not.toContain(mallory.account.slice(-4));
    });

    test("gets no money sent to another's account: its address is shown to who opens it", async () => {
      const [victim, mallory] = [await person(0n), await person(0n)];
      const { page } = await open(victim.passkeys, { ...mallory.hint, credentialId: victim.hint.credentialId });
      await press(page, 'add');
      // The signature shows that it is not theirs.
      expect(await part(page, 'setup')).toContain('I am new here');
      const refused = await open(victim.passkeys, victim.hint);
      await part(refused.page, 'review');
      await victim.passkeys.allow(false);
      await press(refused.page, 'add');
      expect(await part(refused.page, 'review-notice')).toContain('Your passkey was not used.');
      await victim.passkeys.allow(true);
      const own = await open(victim.passkeys, victim.hint);
      await press(own.page, 'add');
      expect(await part(own.page, 'funds')).toContain(victim.account);
      expect(await own.prompts()).toEqual([1]);
    });

    test('is not led to an account of somebody who added their key to it', async () => {
      const [victim, mallory] = [await person(), await person()];
      const first = await open(mallory.passkeys, mallory.hint);
      await press(first.page, 'approve');
      await part(first.page, 'done');
      await addKey(world.chain.rpc, mallory.account as Hex.Hex, victim.passkeys.key());
      const { page } = await open(victim.passkeys, { ...victim.hint, account: mallory.account });
      expect(await part(page, 'setup')).toContain('Pay with your passkey');
      await press(page, 'find');
      await awaitSelector(page, '#setup-notice');
      await press(page, 'find');
      expect(await part(page, 'review')).toContain(victim.account);
    });

    test('may have lost the passkey: another one is a press away', async () => {
      const [lost, here] = [await person(), await person()];
      const { account, credentialId } = lost.hint;
      const { page } = await open(here.passkeys, { account, credentialId });
      await here.passkeys.allow(false);
      await press(page, 'find');
      await awaitSelector(page, '#setup-notice');
      await here.passkeys.allow(true);
      await press(page, 'setup-other');
      expect(await part(page, 'setup')).toContain('I am new here');
      await press(page, 'find');
      await awaitSelector(page, '#setup-notice.plain');
      await press(page, 'find');
      expect(await part(page, 'review')).toContain(here.account);
    });

    test.each([
      ['text', 'somebody'],
      ['nothing of it', {}],
      ['another form of id', { credentialId: '<b>', account: `0x${'1'.repeat(40)}` }],
      ['no account', { credentialId: 'A'.repeat(22), account: 'alice' }],
    ])('is nobody: %s', async (_, payer) => {
      const { page } = await open(createPasskeys(), payer);
      expect(await part(page, 'setup')).toContain('I am new here');
    });
  });

  describe('who has no account here', () => {
    let world: PayWorld;
    beforeAll(async () => {
      world = await startPayWorld({ pagesOnly: true });
    }, 120_000);
    afterAll(() => world.stop());

    test('reads on the button whom they pay, however long the name of the host, and the address below Details', async () => {
      const long = 'the-very-long-name-of-a-tea-house-by-the-market.shops.example.localhost';
      const shop = world.shop.replace('localhost', long);
      const [passkeys, to] = [createPasskeys(), `0x${'b0b'.padStart(40, '0')}`];
      const opener = await openShop({ own: world.own, shop });
      await opener.evaluate(
        (url, message, origin) => {
          const popup = window.open(url, 'vault-pay', 'popup');
          addEventListener('message', () => popup?.postMessage(message, origin));
        },
        `${world.origin}/pay/confirm?mode=popup&origin=${encodeURIComponent(shop)}`,
        {
          ...{ vault: 'pay', type: 'request', id: 'long-1' },
          data: { to, amount: '1000', token: 'native', chainId: 84532 },
          total: undefined,
        },
        world.origin,
      );
      const page = await confirmWindow(world, passkeys);
      await makeNew(page);
      await part(page, 'review');
      await world.fund(await page.$eval('#from', (one) => one.textContent ?? ''), { wei: ETHER });
      await press(page, 'add');
      await awaitSelector(page, '#approve:not([disabled])');
      const text = await page.$eval('#approve', (one) => one.textContent);
      expect(text).toBe(`Pay 0.000000000000001 ETH to ${new URL(shop).host}`);
      expect(await page.$eval('#approve', (one) => one.textContent?.includes('0x'))).toBe(false);
      expect(await page.$eval('#to', (one) => one.textContent?.toLowerCase())).toBe(to);
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
    });

    test('is led to the passkey first, to a new account by a link, and back from its emptiness', async () => {
      const passkeys = createPasskeys();
      const data = { to: `0x${'a11ce'.padStart(40, '0')}`, amount: '1000', token: 'native', chainId: 84532 };
      const context = await world.own.browser.createBrowserContext();
      const page = await openLink(world, passkeys, { id: 'empty-1', data }, context);
      await part(page, 'setup');
      const primary = () =>
        page.$$eval('.primary', (all) => all.filter((one) => one.checkVisibility()).map(({ id }) => id));
      expect(await primary()).toEqual(['find']);
      expect(await page.$$eval('#setup input', (all) => all.length)).toBe(0);
      await press(page, 'newcomer');
      expect(await part(page, 'new')).toContain('A new, empty account');
      await press(page, 'new-back');
      await makeNew(page);
      for (const _ of ['at once', 'at the next visit']) {
        expect(await part(page, 'review')).toContain('Not enough ETH');
        expect(await primary()).toEqual(['another']);
        expect(await page.$eval('#add', (one) => one.checkVisibility())).toBe(true);
        await page.reload();
      }
      await countPrompts(page);
      await press(page, 'another');
      // The picker of the device is open at once; here it has one passkey.
      await page.waitForFunction(() => (window as unknown as { asked: number[] }).asked.join() === '0');
      await part(page, 'review');
      // With money it is an account like any other.
      const account = await page.$eval('#from', (element) => element.textContent ?? '');
      await world.fund(account, { wei: ETHER });
      await page.reload();
      await part(page, 'review');
      expect(await primary()).toEqual(['approve']);
    });
  });
}
