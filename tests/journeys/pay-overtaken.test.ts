import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { AbiFunction, Hex } from 'ox';
import type { BrowserContext, Page } from 'puppeteer-core';
import { accountFactory2Abi } from '../../lib/chain/abi.ts';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import {
  awaitSelector,
  createPasskeys,
  makeNew,
  type Passkeys,
  type PayWorld,
  part,
  press,
  startPayWorld,
  type UpstreamCall,
} from '../support/pay.ts';
import { keepSent, openLink } from '../support/pay-windows.ts';

const SEND = 'eth_sendUserOperation';
const ETHER = 10n ** 18n;

/** The account that the page shows. */
function addressOn(page: Page): Promise<string> {
  return page.$eval('#from', (element) => element.getAttribute('aria-label') ?? element.textContent ?? '');
}

if (chromium) {
  describe('a first payment that something overtakes', () => {
    let world: PayWorld;
    const contexts: BrowserContext[] = [];
    beforeAll(async () => {
      world = await startPayWorld({ pagesOnly: true });
    });
    afterAll(() => world.stop());
    afterEach(async () => {
      world.upstream.set();
      for (const context of contexts.splice(0)) await context.close();
    });

    let orders = 0;
    const newOrder = () => {
      const to = `0x${(0xdef0000 + ++orders).toString(16).padStart(40, '0')}`;
      return { id: `first-${orders}`, data: { to, amount: String(ETHER / 1000n), token: 'native', chainId: 84532 } };
    };
    /** A new account with money, which is not deployed, in a browser of its own; its page stays open. */
    async function newAccount(order: ReturnType<typeof newOrder>) {
      const passkeys = createPasskeys();
      const context = await world.own.browser.createBrowserContext();
      contexts.push(context);
      const page = await openLink(world, passkeys, order, context);
      await makeNew(page);
      await part(page, 'review');
      const address = await addressOn(page);
      await world.fund(address, { wei: ETHER });
      expect(await world.chain.rpc('eth_getCode', [address, 'latest'])).toBe('0x');
      await page.reload();
      await awaitSelector(page, '#approve:not([disabled])');
      return { passkeys, page, context };
    }
    const received = ({ data }: ReturnType<typeof newOrder>) => world.balanceOf(data.to, 'native');

    test('two tabs, two first payments of a new account, both approved: both are paid in the end', async () => {
      const orders2 = [newOrder(), newOrder()] as const;
      const { passkeys, page: first, context } = await newAccount(orders2[0]);
      const second = await openLink(world, passkeys, orders2[1], context);
      await awaitSelector(second, '#approve:not([disabled])');
      // Both are signed before either is in a block.
      const held: (() => void)[] = [];
      world.upstream.answer = async ({ method }) => {
        if (method === SEND) await new Promise<void>((resolve) => held.push(resolve));
        return undefined;
      };
      for (const [i, page] of [first, second].entries()) {
        await page.bringToFront();
        await press(page, 'approve');
        while (held.length <= i) await Bun.sleep(50);
      }
      world.upstream.answer = undefined;
      held[0]?.();
      await first.bringToFront();
      await part(first, 'done');
      held[1]?.();
      await second.bringToFront();
      expect(await part(second, 'pending')).toContain('It may still be paid.');
      expect(await second.$eval('#pending-detail', (element) => element.textContent)).toContain('AA10');
      await press(second, 'again');
      await part(second, 'done');
      expect(await Promise.all(orders2.map(received))).toEqual([ETHER / 1000n, ETHER / 1000n]);
    });

    test('a stranger who creates the account between the price and the block: tried again, it is paid', async () => {
      const order = newOrder();
      const { passkeys, page } = await newAccount(order);
      world.upstream.answer = async ({ method }: UpstreamCall) => {
        if (method !== SEND) return undefined;
        world.upstream.answer = undefined;
        await createFor(passkeys);
        return undefined;
      };
      await press(page, 'approve');
      await part(page, 'pending');
      await press(page, 'again');
      await part(page, 'done');
      expect(await received(order)).toBe(ETHER / 1000n);
    });

    test('a stranger who creates it while the person reads: paid at the first try', async () => {
      const order = newOrder();
      const { passkeys, page } = await newAccount(order);
      await createFor(passkeys);
      await press(page, 'approve');
      await part(page, 'done');
      expect(await received(order)).toBe(ETHER / 1000n);
    });

    /** Anybody may create anybody's account. */
    async function createFor(passkeys: Passkeys): Promise<void> {
      const { x, y } = passkeys.key();
      const create = AbiFunction.fromAbi(accountFactory2Abi, 'createAccount');
      const data = AbiFunction.encodeData(create, [Hex.toBigInt(Hex.fromBytes(x)), Hex.toBigInt(Hex.fromBytes(y)), 0n]);
      const { accountFactory2: to } = world.contracts;
      await sendTransaction(world.chain.rpc, devAccount('bob').privateKey, { to, data });
    }
  });

  describe('an account of the first kind, whose payments do not end', () => {
    let world: PayWorld;
    beforeAll(async () => {
      world = await startPayWorld({ pagesOnly: true, more: { ACCOUNT_FACTORY_2_ADDRESS: '' } });
    });
    afterAll(() => world.stop());

    test('stays not confirmed however late it is, and becomes certain by cancelling', async () => {
      const passkeys = createPasskeys();
      const to = '0x00000000000000000000000000000000000d0001';
      const order = { id: 'first-kind', data: { to, amount: '1000', token: 'native', chainId: 84532 } };
      const page = await openLink(world, passkeys, order);
      await makeNew(page);
      await part(page, 'review');
      const address = await page.$eval(
        '#from',
        (element) => element.getAttribute('aria-label') ?? element.textContent ?? '',
      );
      await world.fund(address, { wei: ETHER });
      await page.reload();
      const { release } = keepSent(world, { error: { code: -32504, message: 'throttled' } });
      await press(page, 'approve');
      expect(await part(page, 'pending')).toContain('It does not end by itself');
      await world.later(86_400);
      await Bun.sleep(3_000);
      expect(await part(page, 'pending')).toContain('It may still be paid.');
      world.upstream.answer = undefined;
      await press(page, 'void');
      expect(await part(page, 'problem')).toContain('Nothing was paid.');
      await release();
      expect(await world.balanceOf(to, 'native')).toBe(0n);
    });
  });
}
