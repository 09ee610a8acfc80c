import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { USDC } from '../../scripts/dev-stack/usdc.ts';
import { type Liar, startLiar } from '../support/liar.ts';
import {
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
} from '../support/pay.ts';

if (chromium) {
  let world: PayWorld;
  let node: Liar;
  let shop: Page;
  let account: string;
  const passkeys = createPasskeys();
  beforeAll(async () => {
    world = await startPayWorld({
      node(url) {
        node = startLiar({ target: url, seed: 1 });
        return node.url;
      },
    });
    account = await makeAccount(world, passkeys);
  });
  afterAll(async () => {
    await world.stop();
    await node.stop();
  });
  beforeEach(async () => {
    shop = await openShop(world);
  });
  afterEach(async () => {
    world.upstream.set();
    node.lies.length = 0;
    await shop.close();
    await closeWindows(world);
  });

  const PAYEE = '0x00000000000000000000000000000000000b0b01';
  const ask = async (more: PayData = {}) => {
    const data = { to: PAYEE, amount: '1000', token: 'native', chainId: 84532, ...more };
    await buy(shop, { method: `${world.origin}/pay`, data });
    return confirmWindow(world, passkeys);
  };
  const sent = () => world.upstream.calls.filter(({ method }) => method === 'eth_sendUserOperation').length;

  /** The gas that costs this many wei at the operation's price. */
  const gasFor = (operation: unknown, wei: bigint) =>
    `0x${(wei / BigInt((operation as { maxFeePerGas: string }).maxFeePerGas)).toString(16)}`;

  describe('what upstreams say of money', () => {
    /** The bundler's answer to this method asks for a fee of 0.9 ETH, by the part that is charged in full. */
    const askTooMuch = (liar: string) => {
      world.upstream.lie = (method, result, [operation]) =>
        method === liar ? { ...(result as object), preVerificationGas: gasFor(operation, 9n * 10n ** 17n) } : result;
    };

    test("a bundler's preVerificationGas of 0.9 ETH is not signed, in words that name the bound and whose it is", async () => {
      const before = [sent(), await world.balanceOf(account, 'native')];
      world.upstream.set('refusing', 'pm_sponsorUserOperation');
      askTooMuch('eth_estimateUserOperationGas');
      const page = await ask();
      const shown = await part(page, 'problem');
      expect(shown).toContain('The network fee is too high');
      expect(shown).toContain('more than the operator of this vault allows');
      expect(await page.$eval('#problem-detail', (element) => element.textContent)).toMatch(
        /^Up to [\d.]+ ETH; the operator of this vault allows 0\.01 ETH\.$/,
      );
      expect([sent(), await world.balanceOf(account, 'native')]).toEqual(before);
      // Once the bundler is honest, the same request is paid.
      world.upstream.lie = undefined;
      await press(page, 'retry');
      expect(await part(page, 'review')).toContain('Pay 0.000000000000001 ETH');
    });

    test("a sponsor's is refused by the vault, and the account pays what it really takes", async () => {
      askTooMuch('pm_sponsorUserOperation');
      const page = await ask();
      await part(page, 'review');
      const fee = await page.$eval('#fee', (element) => element.textContent ?? '');
      expect(fee).toStartWith('At most 0.00');
    });

    test("a node's gas price of 2,000 gwei is not signed either", async () => {
      const before = [sent(), await world.balanceOf(account, 'native')];
      world.upstream.set('refusing', 'pm_sponsorUserOperation');
      node.lies.push(async ({ method, params }, honest) => {
        if (method !== 'eth_feeHistory') return undefined;
        const history = (await honest(method, params)) as { baseFeePerGas: string[] };
        return { result: { ...history, baseFeePerGas: history.baseFeePerGas.map(() => '0x1d1a94a2000') } };
      });
      const page = await ask();
      expect(await part(page, 'problem')).toContain('The network fee is too high');
      expect([sent(), await world.balanceOf(account, 'native')]).toEqual(before);
    });

    test('a node that gives USDC 12 decimals has no amount shown, and nothing signed', async () => {
      const before = [sent(), await world.balanceOf(account, 'usdc')];
      node.lies.push(({ method, params: [call] }) => {
        const isAsked = method === 'eth_call' && (call as { data?: string }).data === '0x313ce567';
        return isAsked ? { result: `0x${'c'.padStart(64, '0')}` } : undefined;
      });
      const page = await ask({ token: USDC, amount: '50000000' });
      const shown = await part(page, 'problem');
      expect(shown).toContain('The network cannot be reached');
      expect(shown).not.toContain('0.00005');
      expect([sent(), await world.balanceOf(account, 'usdc')]).toEqual(before);
      node.lies.length = 0;
      await press(page, 'retry');
      expect(await part(page, 'review')).toContain('50 USDC');
    });
  });
}
