import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import {
  buy,
  confirmWindow,
  createPasskeys,
  makeAccount,
  openShop,
  type PayWorld,
  press,
  startPayWorld,
} from '../support/pay.ts';

if (chromium) {
  describe('on a chain without a precompile for P-256', () => {
    let world: PayWorld;
    beforeAll(async () => {
      world = await startPayWorld({ hardfork: 'prague' });
    });
    afterAll(() => world.stop());

    test('the first payment of an account is made, and the next one, each with gas for Solidity', async () => {
      const passkeys = createPasskeys();
      const account = await makeAccount(world, passkeys);
      for (const to of ['0x00000000000000000000000000000000000a11c1', '0x00000000000000000000000000000000000a11c2']) {
        const shop = await openShop(world);
        const data = { to, amount: '1000', token: 'native', chainId: 84532 };
        const { told } = await buy(shop, { method: `${world.origin}/pay`, data });
        await press(await confirmWindow(world, passkeys), 'approve');
        expect((await told).details).toMatchObject({ account });
        expect(await world.balanceOf(to, 'native')).toBe(1000n);
        await shop.close();
      }
    });
  });
}
