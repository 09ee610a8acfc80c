import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { USDC } from '../../scripts/dev-stack/usdc.ts';
import { clickToPay } from '../support/client-app.ts';
import {
  abort,
  awaitSelector,
  buy,
  closeWindows,
  confirmWindow,
  createPasskeys,
  dismissed,
  makeNew,
  openShop,
  type PayData,
  type PayWorld,
  part,
  press,
  startPayWorld,
  startShop,
  windowsGone,
} from '../support/pay.ts';
import { testDiscovery } from '../support/pay-page/discovery.ts';
import { keepSent } from '../support/pay-windows.ts';

let world: PayWorld;
beforeAll(async () => {
  world = chromium ? await startPayWorld() : world;
});
afterAll(() => world?.stop());

describe.skipIf(!chromium)('what Chromium would refuse, and the vault therefore does not do', () => {
  testDiscovery(() => world.own);
});

// What only a browser shows of a payment. What the page says and does, whatever the chain, the bundler and the shop do,
// is in `tests/assets/pay/`.
describe.skipIf(!chromium)('the payment handler in Chromium', () => {
  const ETHER = 10n ** 18n;
  let shop: Page;
  let method: string;
  /** The account that the first test makes, and all pay from. */
  let account: string;
  const passkeys = createPasskeys();
  beforeAll(async () => {
    method = `${world.origin}/pay`;
    shop = await openShop(world);
  });
  afterEach(async () => {
    world.upstream.set();
    // Its request ends with the page that asked.
    await shop.reload();
    await closeWindows(world);
  });

  /** Somebody new to be paid. */
  let payees = 0xa11ce000;
  const payee = () => `0x${(payees++).toString(16).padStart(40, '0')}`;
  const native = (more: PayData = {}): PayData & { to: string } => ({
    to: payee(),
    amount: '1000000000000000',
    token: 'native',
    chainId: 84532,
    ...more,
  });
  const sent = () => world.upstream.calls.filter((call) => call.method === 'eth_sendUserOperation');
  const received = (data: { to: string }) => world.balanceOf(data.to, 'native');

  test('from a click at a shop to native coin: installed, an account made by a passkey, paid, settled', async () => {
    const data = native({ label: 'Two teas' });
    const { told } = await buy(shop, { method, data, total: { currency: 'ETH', value: '0.001' } });
    const page = await confirmWindow(world, passkeys);
    expect(await part(page, 'setup')).toContain('Pay with your passkey');
    await makeNew(page);
    expect(await part(page, 'review')).toContain('Not enough ETH: 0.001 needed, 0 here.');
    expect(await page.$eval('#approve', (button) => (button as HTMLElement).hidden)).toBe(true);
    account = await page.$eval('#from', (element) => element.textContent ?? '');
    await world.fund(account, { wei: ETHER, usdc: 100_000_000n });
    // The worker still knows the request after a reload.
    await page.reload();
    const shown = await part(page, 'review');
    for (const text of [new URL(world.shop).host, 'Pay 0.001 ETH', 'Two teas', 'Base Sepolia (84532)', account]) {
      expect(shown).toContain(text);
    }
    expect(shown).toContain('Sponsored: you pay nothing');
    expect(shown.toLowerCase()).toContain(data.to);
    expect(await page.$('#warnings li')).toBeNull();
    await press(page, 'approve');
    const { methodName, details } = await told;
    expect(methodName).toBe(method);
    expect(Object.keys(details ?? {})).toEqual(['userOpHash', 'txHash', 'chainId', 'account', 'token']);
    expect(details).toMatchObject({ chainId: 84532, account, token: 'native' });
    expect(await received(data)).toBe(10n ** 15n);
    expect(await world.balanceOf(account, 'native')).toBe(ETHER - 10n ** 15n);
    const receipt = await world.chain.rpc('eth_getTransactionReceipt', [details?.['txHash']]);
    expect(receipt).toMatchObject({ status: '0x1' });
  });

  test('two identifiers with different data, and no sponsor: what is shown is what moves, is answered, and costs', async () => {
    world.upstream.set('refusing', 'pm_sponsorUserOperation');
    const before = await world.balanceOf(account, 'native');
    const [one, other] = [native(), native({ amount: '9' })];
    const methods = [method, `${world.origin}/.well-known/payment-method-manifest`];
    const { told } = await buy(shop, { method: methods, data: [one, other] });
    const page = await confirmWindow(world, passkeys);
    const shown = await part(page, 'review');
    // The browser chooses one of them, and gives the page its data alone.
    const isFirst = shown.includes('Pay 0.001 ETH');
    expect(shown).toContain(isFirst ? 'Pay 0.001 ETH' : 'Pay 0.000000000000000009 ETH');
    const most = BigInt(Math.round(Number(/At most ([\d.]+) ETH/.exec(shown)?.[1]) * 1e18));
    await press(page, 'approve');
    const { methodName, details } = await told;
    expect(methodName).toBe(methods[isFirst ? 0 : 1] ?? '');
    expect(details).toMatchObject({ account });
    const paid = [await received(one), await received(other)] as const;
    expect(paid).toEqual(isFirst ? [10n ** 15n, 0n] : [0n, 9n]);
    const fee = before - paid[0] - paid[1] - (await world.balanceOf(account, 'native'));
    expect(fee).toBeGreaterThan(0n);
    // What is left of it is the account's deposit for the next time.
    expect(fee).toBeLessThanOrEqual(most);
  });

  test('cancelled by the person: the browser ends the request, nothing moves', async () => {
    const data = native();
    const count = sent().length;
    await buy(shop, { method, data });
    const page = await confirmWindow(world, passkeys);
    await part(page, 'review');
    await press(page, 'cancel');
    await dismissed(page);
    expect(await abort(shop)).toBe('InvalidStateError');
    expect([sent().length, await received(data)]).toEqual([count, 0n]);
  });

  test("the shop's tab closed by the person: the window goes with it, nothing moves", async () => {
    const data = native();
    const count = sent().length;
    const other = await openShop(world);
    await buy(other, { method, data });
    const page = await confirmWindow(world, passkeys);
    await part(page, 'review');
    await other.close();
    await windowsGone(world);
    expect(page.isClosed()).toBe(true);
    expect([sent().length, await received(data)]).toEqual([count, 0n]);
  });

  test('the shop takes its request back: nothing moves', async () => {
    const data = native();
    const count = sent().length;
    const { told } = await buy(shop, { method, data });
    await part(await confirmWindow(world, passkeys), 'review');
    expect(await abort(shop)).toBe('aborted');
    expect((await told).error).toBe('AbortError');
    await windowsGone(world);
    expect([sent().length, await received(data)]).toEqual([count, 0n]);
  });

  test('two requests at once: the browser shows one, here USDC by the well-known identifier, and only that is paid', async () => {
    const [first, second] = [{ ...native(), amount: '1250000', token: USDC }, native()];
    const wellKnown = `${world.origin}/.well-known/payment-method-manifest`;
    const before = await world.balanceOf(account, 'usdc');
    const other = await openShop(world);
    const one = await buy(shop, { method: wellKnown, data: first, total: { currency: 'USD', value: '1.25' } });
    const page = await confirmWindow(world, passkeys);
    expect(await part(page, 'review')).toContain('Pay 1.25 USDC');
    const two = await buy(other, { method, data: second });
    expect((await two.told).error).toBe('AbortError');
    await page.bringToFront();
    const { release } = keepSent(world);
    await press(page, 'approve');
    await awaitSelector(page, '#step-block[aria-current]');
    // The signature is on its way: the shop cannot take its request back any more.
    expect(await abort(shop)).toBe('InvalidStateError');
    await release();
    // It is answered as it was asked.
    expect(await one.told).toMatchObject({ methodName: wellKnown, details: { account, token: USDC } });
    expect([await world.balanceOf(first.to, 'usdc'), await received(second)]).toEqual([1_250_000n, 0n]);
    expect(before - (await world.balanceOf(account, 'usdc'))).toBe(1_250_000n);
    await other.close();
  });

  test('a worker that the browser ended once the payment was sent: the page still says how it ends', async () => {
    const { release, operations } = keepSent(world);
    const data = native();
    await buy(shop, { method, data });
    const page = await confirmWindow(world, passkeys);
    await press(page, 'approve');
    await awaitSelector(page, '#step-block[aria-current]');
    const session = await page.createCDPSession();
    await session.send('ServiceWorker.enable');
    await session.send('ServiceWorker.stopAllWorkers');
    await release();
    await page.reload();
    expect(await part(page, 'done')).toContain('The shop can ask for it again');
    expect([operations.length, await received(data)]).toEqual([1, 10n ** 15n]);
  });

  test('asked by vault/client, in the browser’s own sheet: by the keyboard alone, and as a screen reader has it', async () => {
    const data = native();
    await clickToPay(shop, world.origin, { id: 'by-client', ...data, total: { currency: 'ETH', value: '0.001' } });
    const page = await confirmWindow(world, passkeys);
    expect(page.url()).not.toContain('mode=');
    await awaitSelector(page, '#approve:not([disabled])');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('review-title');
    const tree = JSON.stringify(await page.accessibility.snapshot());
    for (const name of ['Pay 0.001 ETH', `Pay 0.001 ETH to ${new URL(world.shop).host}`, 'Cancel']) {
      expect(tree).toContain(name);
    }
    // The heading has the focus, and is read by that alone.
    expect(await page.$eval('#status', (element) => element.textContent)).toBe('');
    // The details come before it.
    for (const _ of [1, 2]) await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('approve');
    await page.keyboard.press('Enter');
    expect(await shop.evaluate('paid')).toMatchObject({ chainId: 84532, account, token: 'native' });
    expect(await received(data)).toBe(10n ** 15n);
  });

  test('no frame shows the page, in any mode', async () => {
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
    await buy(frame, { method, data: native() });
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
});
