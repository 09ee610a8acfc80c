import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ChainPages, startChainPages } from '../support/pay-page/at-chain.ts';
import { SEED } from '../support/seed.ts';

describe('on a chain without a precompile for P-256', () => {
  let pages: ChainPages;
  beforeAll(async () => {
    pages = await startChainPages({ seed: SEED, hardfork: 'prague' });
  });
  afterAll(() => pages.stop());

  test('the first payment of an account is made, and the next one, each with gas for Solidity', async () => {
    const { device, account } = await pages.makeAccount();
    await pages.fund(account, { wei: 10n ** 18n });
    // Bundlers estimate with a signature in form, which Solidity rejects long before it has verified it.
    pages.bundler.gas = { ...pages.bundler.gas, verificationGasLimit: '0x1' };
    for (const isFirst of [true, false]) {
      expect((await pages.chain.rpc('eth_getCode', [account, 'latest'])) === '0x').toBe(isFirst);
      const window = pages.open(device, { amount: '1000' });
      await window.press('approve');
      await window.shows('done');
      expect(await window.received()).toBe(1000n);
    }
  });
});
