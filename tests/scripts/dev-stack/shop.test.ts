import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../../scripts/dev-stack/browser.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { GIFT, type Shop, startShop } from '../../../scripts/dev-stack/shop.ts';
import { placeUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { awaitSelector, confirmWindow, createPasskeys, part, press, startPayWorld } from '../../support/pay.ts';
import { createPayer, orderOf, PAYEE, payOrder } from '../../support/payers.ts';

const SOMEBODY = '0x00000000000000000000000000000000000B0b00';

describe('the shop of npm start', () => {
  let chain: Chain;
  let shop: Shop;
  beforeAll(async () => {
    chain = await startChain();
    await placeUsdc(chain.rpc);
    shop = await startShop({ vault: 'http://localhost:8787', rpc: chain.rpc, rpcUrl: chain.url });
  });
  afterAll(async () => {
    await shop.stop();
    await chain.stop();
  });

  const give = (account: string) =>
    fetch(`${shop.url}/give`, { method: 'POST', body: new URLSearchParams({ account }), redirect: 'manual' });
  const ether = async (account: string) => BigInt((await chain.rpc('eth_getBalance', [account, 'latest'])) as string);
  const usdc = async (account: string) => {
    const data = `0x70a08231${account.slice(2).padStart(64, '0')}`;
    return BigInt((await chain.rpc('eth_call', [{ to: USDC, data }, 'latest'])) as string);
  };

  const post = async (path: string, body: object = {}) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${shop.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };

  test('is the documented one, led to the local vault and USDC', async () => {
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

  test('gives an account money, and gives again at once when asked twice', async () => {
    const answers = await Promise.all([give(SOMEBODY), give(` ${SOMEBODY.toLowerCase()} `)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect([await usdc(SOMEBODY), await ether(SOMEBODY)]).toEqual([2n * GIFT.usdc, 2n * GIFT.wei]);
  });

  test('gives to what is an address, and goes on after a gift that failed', async () => {
    expect((await give('a***@example.com')).status).toBe(400);
    expect((await fetch(`${shop.url}/give`)).status).toBe(404);
    const { address } = devAccount('bob');
    const before = await usdc(address);
    // The token is a contract that takes no ether, so the second half of this gift fails.
    expect((await give(USDC)).status).toBe(502);
    expect((await give(address)).status).toBe(303);
    expect((await usdc(address)) - before).toBe(GIFT.usdc);
  });
});

/** The button works once the server has made an order. */
async function pressBuy(page: Page): Promise<void> {
  await awaitSelector(page, '#buy:enabled');
  await page.click('#buy');
}

if (chromium) {
  test('from nothing to paid, in a browser that never saw the vault', async () => {
    const world = await startPayWorld();
    const shop = await startShop({ vault: world.origin, rpc: world.chain.rpc, rpcUrl: world.chain.url });
    const passkeys = createPasskeys();
    const page = await world.own.browser.newPage();
    await page.goto(shop.url);
    await pressBuy(page);
    const first = await confirmWindow(world, passkeys);
    await press(first, 'create');
    expect(await part(first, 'review')).toContain('Not enough USDC');
    const account = await first.$eval('#from', (element) => element.textContent ?? '');
    // A person presses Cancel and reads the browser's own message, which nobody can close here.
    await page.reload();
    await page.type('input[name=account]', account);
    await Promise.all([page.waitForNavigation(), page.click('form button')]);
    await pressBuy(page);
    await press(await confirmWindow(world, passkeys), 'approve');
    await page.waitForFunction(() => document.getElementById('result')?.textContent?.startsWith('Paid: 0x'));
    expect(await world.balanceOf(account, 'usdc')).toBe(GIFT.usdc - 1_250_000n);
    await shop.stop();
    await world.stop();
  });
}
