import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import type { Page } from 'puppeteer-core';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import type { Shop } from '../../scripts/dev-stack/shop.ts';
import { placeUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import { startDocumentedShop } from '../support/documented-shop.ts';
import {
  awaitSelector,
  closeWindows,
  confirmWindow,
  createPasskeys,
  findAccount,
  makeNew,
  type PayData,
  type PayWorld,
  part,
  press,
  startPayWorld,
} from '../support/pay.ts';
import { createPayer, orderOf, PAYEE, payOrder } from '../support/payers.ts';

describe('the shop of docs/payments.md', () => {
  let chain: Chain;
  let shop: Shop;
  beforeAll(async () => {
    chain = await startChain();
    await placeUsdc(chain.rpc);
    shop = await startDocumentedShop({ vault: 'http://localhost:8787', rpcUrl: chain.url });
  });
  afterAll(async () => {
    await shop.stop();
    await chain.stop();
  });

  const post = async (path: string, body: object = {}) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${shop.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };

  test('is led to the local vault and USDC by what it says to set', async () => {
    const page = await (await fetch(shop.url)).text();
    expect(page).toContain("const vault = 'http://localhost:8787'");
    expect(page).not.toContain('example.com');
    expect((await post('/orders')).data).toMatchObject({ token: USDC, chainId: 84532 });
  });

  test('is paid by a payment of the order, and by no other receipt', async () => {
    const account = await createPayer(chain.rpc, 2);
    const [one, two] = [await post('/orders'), await post('/orders')];
    const order = orderOf({ ...one.data, id: one.id, origin: shop.url });
    const receipt = await payOrder(chain.rpc, account, order);
    const invented = { ...receipt, userOpHash: Hex.random(32), txHash: Hex.random(32), account: PAYEE };
    expect(await post('/paid', { id: one.id, receipt: invented })).toMatchObject({ status: 'pending' });
    expect(await post('/paid', { id: one.id, receipt: 'paid' })).toMatchObject({ status: 'unverifiable' });
    expect(await post('/paid', { id: two.id, receipt })).toEqual({ status: 'unpaid', reason: 'other_order' });
    expect(await post('/paid', { id: 'mine', receipt })).toEqual({ status: 'unpaid', reason: 'no_order' });
    const { userOpHash } = receipt;
    for (let again = 0; again < 2; again++)
      expect(await post('/paid', { id: one.id, receipt })).toMatchObject({ status: 'paid', userOpHash });
  });

  test('counts an order once, though two accounts paid it', async () => {
    const { id, data } = await post('/orders');
    const order = orderOf({ ...data, id, origin: shop.url });
    const payers = [await createPayer(chain.rpc, 1), await createPayer(chain.rpc, 2)] as const;
    const [first, second] = [await payOrder(chain.rpc, payers[0], order), await payOrder(chain.rpc, payers[1], order)];
    expect(await post('/paid', { id, receipt: first })).toMatchObject({ status: 'paid' });
    expect(await post('/paid', { id, receipt: second })).toEqual({ status: 'unpaid', reason: 'order_paid' });
    expect(await post('/paid', { id, receipt: first })).toMatchObject({ status: 'paid' });
  });
});

describe.skipIf(!chromium)('the shop of docs/payments.md in a browser', () => {
  let world: PayWorld;
  let shop: Shop;
  /** Chromium without payment handlers, for all but the first test: it takes a third less processor time. */
  let plain: { readonly own: OwnBrowser };
  /** What each order costs. */
  const PRICE = 1_250_000n;
  const passkeys = createPasskeys();
  beforeAll(async () => {
    world = await startPayWorld();
    shop = await startDocumentedShop({ vault: world.origin, rpcUrl: world.chain.url });
    plain = { own: await startShell() };
  });
  afterAll(async () => {
    await plain.own.close();
    await shop.stop();
    await world.stop();
  });
  afterEach(async () => {
    await closeWindows(world);
    await closeWindows(plain);
  });

  /** The shop's page; `before` is what its browser lacks. */
  const openTea = async ({ own }: Pick<PayWorld, 'own'>, before = '') =>
    come(await own.browser.newPage(), shop.url, before);
  const come = async (tea: Page, url: string, before = '') => {
    await tea.goto(url);
    // The button works once the server has made an order.
    await awaitSelector(tea, '#buy:enabled');
    await tea.evaluate(before);
    return tea;
  };
  const NO_REQUESTS = 'delete window.PaymentRequest';
  /** What it says in the end. */
  const result = (page: Page, isEnd = /^(?:Paid|Not accepted|No payment yet)/) =>
    page
      .waitForFunction(
        (pattern) => {
          const text = document.getElementById('result')?.textContent ?? '';
          return new RegExp(pattern).test(text) ? text : '';
        },
        {},
        isEnd.source,
      )
      .then((handle) => handle.jsonValue());
  const fragmentOf = (outcome: object) => `#vault-pay=${Buffer.from(JSON.stringify(outcome)).toString('base64url')}`;
  const earned = () => world.balanceOf(PAYEE, 'usdc');

  test('is paid by the Payment Request API, from nothing, by somebody who never saw the vault', async () => {
    const tea = await openTea(world);
    await tea.click('#buy');
    const first = await confirmWindow(world, passkeys);
    await makeNew(first);
    expect(await part(first, 'review')).toContain('Not enough USDC');
    const account = await first.$eval('#from', (element) => element.textContent ?? '');
    await world.fund(account, { usdc: 100_000_000n, wei: 10n ** 18n });
    // A person presses Cancel and reads the browser's own message, which nobody can close here.
    await tea.goto(shop.url);
    await awaitSelector(tea, '#buy:enabled');
    await tea.click('#buy');
    await press(await confirmWindow(world, passkeys), 'approve');
    expect(await result(tea)).toMatch(/^Paid: 0x[0-9a-f]{64}$/);
    expect([await world.balanceOf(account, 'usdc'), await earned()]).toEqual([100_000_000n - PRICE, PRICE]);
    await tea.close();
  });

  test('is paid by a popup, where the browser has none, and told by one that was cancelled, or closed', async () => {
    const CANCELLED = /^No payment yet: cancelled$/;
    for (const [act, words] of [
      [(page: Page) => press(page, 'cancel'), CANCELLED],
      [(page: Page) => page.close(), /^No payment yet: closed$/],
      [(page: Page) => press(page, 'approve'), /^Paid: 0x[0-9a-f]{64}$/],
    ] as const) {
      const before = await earned();
      const tea = await openTea(plain, NO_REQUESTS);
      await tea.click('#buy');
      const page = await confirmWindow(plain, passkeys);
      // This browser does not know the account until it has looked for it.
      if (words === CANCELLED) await findAccount(page, 1);
      expect(await part(page, 'review')).toContain('Pay 1.25 USDC');
      await act(page);
      expect(await result(tea)).toMatch(words);
      expect((await earned()) - before).toBe(words.source.startsWith('^Paid') ? PRICE : 0n);
      await tea.close();
    }
  });

  test('is paid by a link, where popups are blocked', async () => {
    const before = await earned();
    const tea = await openTea(plain, `${NO_REQUESTS}; window.open = () => null`);
    await tea.click('#buy');
    const page = await confirmWindow(plain, passkeys);
    await press(page, 'approve');
    await awaitSelector(page, '#return');
    expect(page.url()).toStartWith(world.origin);
    await Promise.all([tea.waitForNavigation(), page.click('#return')]);
    expect(await result(tea)).toMatch(/^Paid: 0x[0-9a-f]{64}$/);
    expect((await earned()) - before).toBe(PRICE);
    await tea.close();
  });

  test('learns from its server that it was paid, when the popup was closed before', async () => {
    const { rpc } = world.chain;
    const tea = await openTea(plain, NO_REQUESTS);
    await tea.click('#buy');
    const page = await confirmWindow(plain, passkeys);
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
    const { rpc } = world.chain;
    const order = async () =>
      (await fetch(`${shop.url}/orders`, { method: 'POST' })).json() as Promise<{ id: string; data: PayData }>;
    const [mine, theirs] = [await order(), await order()];
    // An invented hash; and a real payment, of the right amount to the right payee, for another order.
    const invented = { userOpHash: `0x${'12'.repeat(32)}`, txHash: `0x${'34'.repeat(32)}`, chainId: 84532 };
    const paid = await payOrder(
      rpc,
      await createPayer(rpc, 2),
      orderOf({ ...theirs.data, id: theirs.id, origin: shop.url }),
    );
    const tea = await plain.own.browser.newPage();
    for (const [id, receipt, words] of [
      [mine.id, invented, 'Not confirmed yet'],
      [mine.id, { ...invented, userOpHash: 'paid' }, 'Not accepted: bad_receipt'],
      [mine.id, paid, 'Not accepted: other_order'],
      [theirs.id, paid, `Paid: ${paid.txHash}`],
    ] as const) {
      await come(tea, shop.url + fragmentOf({ id, ...receipt }));
      expect(await result(tea, words === 'Not confirmed yet' ? /./ : undefined)).toBe(words);
      // Another fragment alone would load no page.
      await tea.goto('about:blank');
    }
    await tea.close();
  });
});
