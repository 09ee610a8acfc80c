import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import type { Shop } from '../../scripts/dev-stack/shop.ts';
import { mintUsdc, placeUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import { startDocumentedShop } from '../support/documented-shop.ts';
import {
  awaitSelector,
  buy,
  closeWindows,
  confirmWindow,
  createPasskeys,
  makeAccount,
  openShop,
  type PayData,
  type PayWorld,
  part,
  press,
  startPayWorld,
  startShop,
} from '../support/pay.ts';
import { createPayer, orderOf, payOrder } from '../support/payers.ts';

if (chromium) {
  let world: PayWorld;
  let shop: Page;
  let account: string;
  /** The shop in docs/payments.md, as it is printed there. */
  let documented: Shop;
  const passkeys = createPasskeys();
  beforeAll(async () => {
    world = await startPayWorld();
    account = await makeAccount(world, passkeys);
    documented = await startDocumentedShop({ vault: world.origin, rpcUrl: world.chain.url });
  });
  afterAll(async () => {
    await documented.stop();
    await world.stop();
  });
  beforeEach(async () => {
    shop = await openShop(world);
  });
  afterEach(async () => {
    world.upstream.set();
    await shop.close();
    await closeWindows(world);
  });

  let payees = 0xb0b0000;
  const payee = () => `0x${(payees++).toString(16).padStart(40, '0')}`;
  const native = (more: PayData = {}) => ({
    to: payee(),
    amount: '1000000000000000',
    token: 'native',
    chainId: 84532,
    ...more,
  });
  const ask = async (data: PayData, total?: { currency: string; value: string }) => {
    const { told } = await buy(shop, { method: `${world.origin}/pay`, data, ...(total ? { total } : {}) });
    return { told, page: await confirmWindow(world, passkeys) };
  };
  const sent = () => world.upstream.calls.filter(({ method }) => method === 'eth_sendUserOperation').length;

  describe('the shop in docs/payments.md', () => {
    const PAYEE = '0x00000000000000000000000000000000000A11cE';
    const openTea = async (fragment = '') => {
      const tea = await world.own.browser.newPage();
      await tea.goto(documented.url + fragment);
      await awaitSelector(tea, '#buy:enabled');
      return tea;
    };
    /** What it says in the end. */
    const result = (page: Page, isEnd = /^(?:Paid|Not accepted|No payment yet)/) =>
      page
        .waitForFunction(
          (pattern) => {
            const text = document.getElementById('result')?.textContent ?? '';
            return new RegExp(pattern).test(text) ? text : '';
          },
          { timeout: 60_000 },
          isEnd.source,
        )
        .then((handle) => handle.jsonValue());
    const fragmentOf = (outcome: object) => `#vault-pay=${Buffer.from(JSON.stringify(outcome)).toString('base64url')}`;

    test.each([
      ['by the Payment Request API', 'undefined'],
      ['by a popup, where the browser has none', 'delete window.PaymentRequest'],
      ['by a link, where popups are blocked', 'delete window.PaymentRequest; window.open = () => null'],
    ])('is paid %s', async (_, before) => {
      const earlier = await world.balanceOf(PAYEE, 'usdc');
      const tea = await openTea();
      await tea.evaluate(before);
      await tea.click('#buy');
      const page = await confirmWindow(world, passkeys);
      expect(await part(page, 'review')).toContain('Pay 1.25 USDC');
      await press(page, 'approve');
      if (page.url().includes('mode=redirect')) {
        await awaitSelector(page, '#return');
        expect(page.url()).toStartWith(world.origin);
        await Promise.all([tea.waitForNavigation(), page.click('#return')]);
      }
      expect(await result(tea)).toMatch(/^Paid: 0x[0-9a-f]{64}$/);
      expect((await world.balanceOf(PAYEE, 'usdc')) - earlier).toBe(1_250_000n);
      await tea.close();
    });

    test('is told by a popup that was cancelled, or closed', async () => {
      for (const [leave, words] of [
        [(page: Page) => press(page, 'cancel'), 'No payment yet: cancelled'],
        [(page: Page) => page.close(), 'No payment yet: closed'],
      ] as const) {
        const tea = await openTea();
        await tea.evaluate('delete window.PaymentRequest');
        await tea.click('#buy');
        const page = await confirmWindow(world, passkeys);
        await part(page, 'review');
        await leave(page);
        expect(await result(tea)).toBe(words);
        await tea.close();
      }
    });

    test('learns from its server that it was paid, when the popup was closed before', async () => {
      const { rpc } = world.chain;
      const tea = await openTea();
      await tea.evaluate('delete window.PaymentRequest');
      await tea.click('#buy');
      const page = await confirmWindow(world, passkeys);
      await part(page, 'review');
      await rpc('evm_setAutomine', [false]);
      await tea.evaluate(() => {
        addEventListener('message', ({ data }) => {
          if (data.type === 'pending') document.title = 'sent';
        });
      });
      await press(page, 'approve');
      await tea.waitForFunction(() => document.title === 'sent');
      await page.close();
      expect(await result(tea, /./)).toBe('Not confirmed yet');
      await rpc('evm_setAutomine', [true]);
      await rpc('anvil_mine', ['0x1']);
      expect(await result(tea)).toMatch(/^Paid: 0x[0-9a-f]{64}$/);
      await tea.close();
    });

    test('takes no forged fragment for a payment: its server asks the chain', async () => {
      const order = async () =>
        (await fetch(`${documented.url}/orders`, { method: 'POST' })).json() as Promise<{ id: string; data: PayData }>;
      const [mine, theirs] = [await order(), await order()];
      // An invented hash; and a real payment, of the right amount to the right payee, for another order.
      const invented = { userOpHash: `0x${'12'.repeat(32)}`, txHash: `0x${'34'.repeat(32)}`, chainId: 84532, account };
      const payer = await createPayer(world.chain.rpc, 2);
      const paid = await payOrder(
        world.chain.rpc,
        payer,
        orderOf({ ...theirs.data, id: theirs.id, origin: documented.url }),
      );
      for (const [receipt, words] of [
        [invented, 'Not confirmed yet'],
        [{ ...invented, userOpHash: 'paid' }, 'Not accepted: bad_receipt'],
        [paid, 'Not accepted: other_order'],
      ] as const) {
        const tea = await openTea(fragmentOf({ id: mine.id, ...receipt }));
        expect(await result(tea, /./)).toBe(words);
        await tea.close();
      }
      const tea = await openTea(fragmentOf({ id: theirs.id, ...paid }));
      expect(await result(tea)).toBe(`Paid: ${paid.txHash}`);
      await tea.close();
    });
  });

  describe('one amount is shown, and that one moves', () => {
    test('a total that says less than the amount is warned of, and the amount is what is shown', async () => {
      const { page } = await ask({ ...native(), token: USDC, amount: '50000000' }, { currency: 'USD', value: '0.50' });
      const shown = await part(page, 'review');
      expect(shown).toContain('Pay 50 USDC');
      expect(shown).toContain('The shop’s total, 0.50 USD, is not what it asks for: 50 USDC.');
    });

    test('a token that calls itself USDC is shown by its address, without the name, and warned of', async () => {
      const fake = '0x00000000000000000000000000000000000fa4e0';
      await placeUsdc(world.chain.rpc, fake);
      await mintUsdc(world.chain.rpc, account as `0x${string}`, 9_000_000n, fake);
      const { page } = await ask({ ...native(), token: fake, amount: '1250000' }, { currency: 'USD', value: '1.25' });
      const shown = await part(page, 'review');
      expect(shown).toContain('Pay 1.25 units of an unknown token');
      expect(shown).toContain(
        `The token at ${fake} is not on this vault’s list. It calls itself “USDC”, but any token can do that.`,
      );
      expect(shown).toContain('The amount in its smallest unit: 1250000.');
      expect(shown).toContain('The shop’s total, 1.25 USD, cannot be compared with the amount.');
    });

    test('two identifiers of the vault with different data: what is shown is what moves and what is answered', async () => {
      const [one, other] = [native(), native({ amount: '9' })];
      const method = [`${world.origin}/pay`, `${world.origin}/.well-known/payment-method-manifest`];
      const { told } = await buy(shop, { method, data: [one, other] });
      const page = await confirmWindow(world, passkeys);
      expect(await part(page, 'review')).toContain('Pay 0.001 ETH');
      await press(page, 'approve');
      expect((await told).methodName).toBe(`${world.origin}/pay`);
      expect([await world.balanceOf(one.to, 'native'), await world.balanceOf(other.to, 'native')]).toEqual([
        10n ** 15n,
        0n,
      ]);
    });

    test.each([
      ['another chain', { chainId: 1 }, 'Wrong network'],
      ['an amount that is a number', { amount: 5 }, 'the amount is missing or invalid.'],
      ['a wrong checksum', { to: '0x036cbD53842c5426634e7929541eC2318f3dCF7e' }, 'an address is misspelt.'],
      ['an address that is no token', { token: '0x00000000000000000000000000000000000000ff' }, 'Nothing was signed.'],
    ])('%s is refused, with nothing to approve', async (_, wrong, words) => {
      const count = sent();
      const { page } = await ask(native(wrong));
      expect(await part(page, 'problem')).toContain(words);
      expect(await page.$eval('#review', (element) => (element as HTMLElement).hidden)).toBe(true);
      expect(sent()).toBe(count);
    });

    test('a label cannot turn or hide what stands beside it', async () => {
      const { page } = await ask(native({ label: 'tea\u202e\u200b\nPay 0 ETH<b>' }));
      await part(page, 'review');
      expect(await page.$eval('#label', (element) => element.textContent)).toBe('tea Pay 0 ETH<b>');
    });
  });

  describe('the page answers to nobody else', () => {
    test('no frame shows it, in any mode', async () => {
      for (const query of ['', '?mode=popup&origin=x', '?mode=redirect&request=e30']) {
        await shop.evaluate((src) => {
          const frame = document.createElement('iframe');
          frame.src = src;
          frame.allow = 'payment *; publickey-credentials-get *';
          document.body.replaceChildren(frame);
          return new Promise((resolve) => {
            frame.onload = resolve;
          });
        }, `${world.origin}/pay/confirm${query}`);
        const frame = shop.frames().find((one) => one !== shop.mainFrame());
        expect(frame?.url()).toBe('chrome-error://chromewebdata/');
      }
    });

    test('a request from a frame is shown as that, with both origins', async () => {
      const evil = startShop();
      world.pages.set('/framed', `<iframe allow="payment" src="${evil.url}"></iframe>`);
      const page = await openShop(world, '/framed');
      const frame = await page.waitForFrame((one) => one.url().startsWith(evil.url));
      await frame.waitForSelector('#buy');
      await buy(frame, { method: `${world.origin}/pay`, data: native() });
      const confirm = await confirmWindow(world, passkeys);
      const shown = await part(confirm, 'review');
      expect(shown).toContain(`Requested by ${world.shop}, in a frame of ${evil.url}`);
      expect(shown).toContain(`The request comes from ${evil.url}, embedded in a page of ${world.shop}.`);
      // The button names the frame: the page around it did not ask.
      const button = await confirm.$eval('#approve', (one) => one.textContent);
      expect(button).toEndWith(` to ${new URL(evil.url).host}`);
      await page.close();
      await evil.stop();
    });

    test("a script's click approves nothing", async () => {
      const data = native();
      const count = sent();
      const { page, told } = await ask(data);
      await awaitSelector(page, '#approve:not([disabled])');
      await page.evaluate(() => document.getElementById('approve')?.click());
      expect(await part(page, 'review')).toContain('Pay 0.001 ETH');
      expect([sent(), await world.balanceOf(data.to, 'native')]).toEqual([count, 0n]);
      await press(page, 'approve');
      expect((await told).details).toMatchObject({ account });
    });

    test('a window that nobody looks at approves nothing', async () => {
      await buy(shop, { method: `${world.origin}/pay`, data: native() });
      const page = await confirmWindow(world);
      await part(page, 'review');
      expect(await page.evaluate(() => document.hasFocus())).toBe(false);
      await page.evaluate(() => window.dispatchEvent(new Event('focus')));
      await Bun.sleep(800);
      expect(await page.$eval('#approve', (button) => (button as HTMLButtonElement).disabled)).toBe(true);
    });

    test('another page of the origin can neither answer nor commit in its place, nor see the request', async () => {
      const data = native();
      const { page, told } = await ask(data);
      await part(page, 'review');
      const key = new URL(page.url()).searchParams.get('request');
      const other = await world.own.browser.newPage();
      await other.goto(`${world.origin}/pay/`);
      const heard = await other.evaluate(async (of) => {
        const { active } = await navigator.serviceWorker.ready;
        const all: unknown[] = [];
        navigator.serviceWorker.addEventListener('message', (event) => all.push(event.data));
        navigator.serviceWorker.startMessages();
        for (const type of ['ready', 'commit', 'answer', 'cancel']) active?.postMessage({ type, key: of, details: {} });
        await new Promise((resolve) => setTimeout(resolve, 500));
        return all;
      }, key);
      expect(heard).toEqual([]);
      // A second window of the very path, with the very key.
      await other.goto(page.url());
      expect(await part(other, 'problem')).toContain('There is nothing to pay here');
      await other.close();
      await page.bringToFront();
      await press(page, 'approve');
      expect((await told).details).toMatchObject({ account });
      expect(await world.balanceOf(data.to, 'native')).toBe(10n ** 15n);
    });
  });

  describe('an opener', () => {
    /**
     * Opens a popup from the shop, which keeps every message it gets and sends `request` as soon as the page is ready:
     * before that nobody hears it, and the page waits for it no longer than a few seconds.
     */
    const openPopup = async (from: Page, origin: string, request?: object, name = 'vault-pay'): Promise<Page> => {
      await from.bringToFront();
      await from.evaluate(
        (url, message, target) => {
          const all: unknown[] = [];
          const popup = window.open(url, target, 'popup');
          Object.assign(window, { popup, heard: all });
          addEventListener('message', ({ data }) => {
            all.push(data);
            if (message && data.type === 'ready') popup?.postMessage(message, '*');
          });
        },
        `${world.origin}/pay/confirm?mode=popup&origin=${encodeURIComponent(origin)}`,
        request ?? null,
        name,
      );
      return confirmWindow(world, passkeys);
    };
    const say = (from: Page, message: object | string) =>
      from.evaluate((data) => (window as unknown as { popup: Window }).popup.postMessage(data, '*'), message);
    const heard = (from: Page) => from.evaluate(() => (window as unknown as { heard: unknown[] }).heard);
    /** What the vault answers a shop, once it is there. */
    const answerTo = async (from: Page): Promise<{ details: object }> => {
      const found = await from.waitForFunction(
        () => (window as unknown as { heard: { type: string }[] }).heard.find(({ type }) => type === 'answer'),
        { timeout: 60_000 },
      );
      return (await found.jsonValue()) as unknown as { details: object };
    };
    const request = (data: PayData, id = `popup-${payees++}`) => ({ vault: 'pay', type: 'request', id, data });

    test('is told nothing before approval, and cannot exchange its request', async () => {
      const [data, other] = [native(), native({ amount: '7' })];
      const page = await openPopup(shop, world.shop, request(data));
      await part(page, 'review');
      expect(await heard(shop)).toEqual([{ vault: 'pay', type: 'ready' }]);
      await say(shop, request(other));
      await say(shop, { vault: 'pay', type: 'approve' });
      await say(shop, 'approve');
      expect(await part(page, 'review')).toContain('Pay 0.001 ETH');
      await press(page, 'approve');
      await awaitSelector(page, '#done');
      expect((await answerTo(shop)).details).toMatchObject({ account });
      expect([await world.balanceOf(data.to, 'native'), await world.balanceOf(other.to, 'native')]).toEqual([
        10n ** 15n,
        0n,
      ]);
    });

    test("cannot speak in another origin's name, nor hear what is meant for it", async () => {
      const evil = startShop();
      const page = await world.own.browser.newPage();
      await page.goto(evil.url);
      const popup = await openPopup(page, world.shop);
      // Its script listens by then.
      await popup.waitForFunction(() => document.readyState === 'complete');
      await say(page, request(native()));
      await say(page, { ...request(native()), origin: world.shop });
      expect(await part(popup, 'problem')).toContain('There is nothing to pay here');
      expect(await heard(page)).toEqual([]);
      await popup.close();
      await page.close();
      await evil.stop();
    });

    test('may take its request back until it is approved', async () => {
      const page = await openPopup(shop, world.shop, request(native()));
      await part(page, 'review');
      await say(shop, { vault: 'pay', type: 'abort' });
      expect(await part(page, 'problem')).toContain('The shop withdrew its request');
    });

    test('two popups of one id, both approved: the money moves once, and both get the receipt', async () => {
      const data = native();
      const other = await openShop(world);
      const one = await openPopup(shop, world.shop, request(data, 'same'));
      await part(one, 'review');
      const second = await openPopup(other, world.shop, request(data, 'same'), 'second');
      await part(second, 'review');
      await Promise.all([press(one, 'approve'), press(second, 'approve')]);
      await Promise.all([awaitSelector(one, '#done'), awaitSelector(second, '#done')]);
      expect(await world.balanceOf(data.to, 'native')).toBe(10n ** 15n);
      const [first, last] = await Promise.all([shop, other].map(answerTo));
      expect(first?.details).toMatchObject({ account });
      expect(first).toEqual(last as { details: object });
      await other.close();
    });

    test('another device, which knows nothing of the payment: it is not settled again, and the receipt is found', async () => {
      const data = native();
      const first = await openPopup(shop, world.shop, request(data, 'elsewhere'));
      await press(first, 'approve');
      await awaitSelector(first, '#done');
      // The memory of this device is what another one has not.
      await first.evaluate(
        () =>
          new Promise<void>((resolve) => {
            indexedDB.open('vault-pay').onsuccess = ({ target }) => {
              const transaction = (target as IDBOpenDBRequest).result.transaction('payments', 'readwrite');
              transaction.objectStore('payments').clear();
              transaction.oncomplete = () => resolve();
            };
          }),
      );
      await first.close();
      const count = sent();
      const second = await openPopup(shop, world.shop, request(data, 'elsewhere'));
      await part(second, 'done');
      expect((await answerTo(shop)).details).toMatchObject({ account });
      expect([sent(), await world.balanceOf(data.to, 'native')]).toEqual([count, 10n ** 15n]);
    });
  });

  describe('a link', () => {
    const open = async (request: object) => {
      const text = Buffer.from(JSON.stringify(request)).toString('base64');
      const page = await world.own.browser.newPage();
      await passkeys.attach(page);
      await page.goto(`${world.origin}/pay/confirm?mode=redirect&request=${encodeURIComponent(text)}`);
      return page;
    };

    test.each([
      'javascript:alert(1)',
      'data:text/html,x',
      'blob:https://shop.example/9115d58c-bcda-ff47-86e5-083e9a215304',
      'http://shop.example/back',
      'https://user:password@shop.example/back',
      '/back',
      undefined,
    ])('to return to %p is refused', async (returnUrl) => {
      const page = await open({ id: 'x', data: native(), returnUrl });
      expect(await part(page, 'problem')).toContain('There is nothing to pay here');
      expect(await page.$eval('#leave-link', (link) => (link as HTMLElement).hidden)).toBe(true);
      await page.close();
    });

    test('does not speak for the shop that it names, and returns there by a click alone, with the outcome in the fragment', async () => {
      const data = native();
      const page = await open({ id: 'linked', data, returnUrl: `${world.shop}/?order=1#old` });
      const shown = await part(page, 'review');
      expect(shown).toContain('You followed a link. The receipt goes to');
      expect(shown).toContain('Anyone can make a link like the one you followed');
      await press(page, 'approve');
      const done = await part(page, 'done');
      expect(done).toContain(`Return to ${world.shop}`);
      const url = new URL(await page.$eval('#return', (link) => (link as HTMLAnchorElement).href));
      expect([url.origin, url.search]).toEqual([world.shop, '?order=1']);
      const outcome = JSON.parse(Buffer.from(url.hash.replace('#vault-pay=', ''), 'base64url').toString());
      expect(outcome).toMatchObject({ id: 'linked', account, chainId: 84532 });
      expect(page.url()).toStartWith(world.origin);
      expect(await world.balanceOf(data.to, 'native')).toBe(10n ** 15n);
      // The same link once more is the receipt.
      const count = sent();
      await page.reload();
      await part(page, 'done');
      expect([sent(), await world.balanceOf(data.to, 'native')]).toEqual([count, 10n ** 15n]);
      await page.close();
      // Somebody else's under the same name and id is not.
      const other = await open({ id: 'linked', data: native(), returnUrl: `${world.shop}/` });
      expect(await part(other, 'problem')).toContain('The shop reused the id of another payment');
      await other.close();
    });

    test('that was cancelled leads back with the reason, and without the account', async () => {
      const page = await open({ id: 'left', data: native(), returnUrl: world.shop });
      await press(page, 'cancel');
      expect(await part(page, 'problem')).toContain('Cancelled');
      const { hash } = new URL(await page.$eval('#leave-link', (link) => (link as HTMLAnchorElement).href));
      expect(JSON.parse(Buffer.from(hash.replace('#vault-pay=', ''), 'base64url').toString())).toEqual({
        id: 'left',
        error: 'cancelled',
      });
      await page.close();
    });
  });
}
