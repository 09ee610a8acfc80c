import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import type { Shop } from '../../scripts/dev-stack/shop.ts';
import { placeUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import { startDocumentedShop } from '../support/documented-shop.ts';
import { awaitSelector, confirmWindow, createPasskeys, makeNew, part, press, startPayWorld } from '../support/pay.ts';
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

if (chromium) {
  test('the documented shop, from nothing to paid, in a browser that never saw the vault', async () => {
    const world = await startPayWorld();
    const shop = await startDocumentedShop({ vault: world.origin, rpcUrl: world.chain.url });
    const passkeys = createPasskeys();
    const page = await world.own.browser.newPage();
    const pressBuy = async () => {
      await page.goto(shop.url);
      // The button works once the server has made an order.
      await awaitSelector(page, '#buy:enabled');
      await page.click('#buy');
    };
    await pressBuy();
    const first = await confirmWindow(world, passkeys);
    await makeNew(first);
    expect(await part(first, 'review')).toContain('Not enough USDC');
    const account = await first.$eval('#from', (element) => element.textContent ?? '');
    // A person presses Cancel and reads the browser's own message, which nobody can close here.
    await world.fund(account, { usdc: 100_000_000n, wei: 10n ** 18n });
    await pressBuy();
    await press(await confirmWindow(world, passkeys), 'approve');
    await page.waitForFunction(() => document.getElementById('result')?.textContent?.startsWith('Paid: 0x'));
    expect(await world.balanceOf(account, 'usdc')).toBe(100_000_000n - 1_250_000n);
    await shop.stop();
    await world.stop();
  });
}
