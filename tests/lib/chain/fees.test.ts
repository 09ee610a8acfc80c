import { afterAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { type FeeMarket, offerFees, raiseFees, readFeeMarket, type TransactionFees } from '../../../lib/chain/fees.ts';
import { createRpc } from '../../../lib/chain/rpc.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { always } from '../../support/property.ts';
import { settled } from '../../support/settled.ts';
import { resultOf, startUpstream } from '../../support/upstream.ts';

const GWEI = 10n ** 9n;
const CAP = 10n * GWEI;
const wei = fc.bigInt(1n, 20n * GWEI);
const markets: fc.Arbitrary<FeeMarket> = fc.record({ baseFee: wei, tip: wei });
const config = { chainId: 84532 };
const outside = { fetch: (url: string, init?: RequestInit) => fetch(url, init), clock: systemClock, log: () => {} };
const rpcTo = (url: string) => createRpc({ ...outside, metrics: createMetrics(), urls: { 84532: url } });

describe('an offer', () => {
  test('leaves room for the base fee to double, within the cap', () => {
    expect(offerFees({ baseFee: GWEI, tip: 1n }, CAP)).toEqual({ maxFee: 2n * GWEI + 1n, tip: 1n });
    expect(offerFees({ baseFee: 6n * GWEI, tip: GWEI }, CAP)).toEqual({ maxFee: CAP, tip: GWEI });
    expect(offerFees({ baseFee: CAP - 1n, tip: 1n }, CAP)).toEqual({ maxFee: CAP, tip: 1n });
    expect(offerFees({ baseFee: CAP, tip: 1n }, CAP)).toBeUndefined();
  });

  test('is taken by the next block, never above the cap, its tip never above the whole', () => {
    always(markets, (market) => {
      const made = offerFees(market, CAP);
      expect(made === undefined).toBe(market.baseFee + market.tip > CAP);
      if (made) expect(made.maxFee <= CAP && made.tip <= made.maxFee && made.maxFee >= market.baseFee).toBe(true);
    });
  });
});

describe('a raise', () => {
  test('is an eighth more in both parts, rounded up, or what the market asks', () => {
    const market = { baseFee: GWEI, tip: 1n };
    expect(raiseFees({ maxFee: 4n * GWEI, tip: 1_000_001n }, market, CAP)).toEqual({
      maxFee: 4_500_000_000n,
      tip: 1_125_002n,
    });
    expect(raiseFees({ maxFee: GWEI, tip: 1n }, { baseFee: 3n * GWEI, tip: GWEI }, CAP)).toEqual({
      maxFee: 7n * GWEI,
      tip: GWEI,
    });
    expect(raiseFees({ maxFee: 9n * GWEI, tip: 1n }, market, CAP)).toBeUndefined();
    expect(raiseFees({ maxFee: GWEI, tip: 1n }, { baseFee: CAP, tip: 1n }, CAP)).toBeUndefined();
  });

  test('is a tenth more at least, as nodes demand, and within the cap', () => {
    const lasts: fc.Arbitrary<TransactionFees> = fc
      .tuple(wei, wei)
      .map(([a, b]) => (a > b ? { maxFee: a, tip: b } : { maxFee: b, tip: a }));
    always(fc.tuple(lasts, markets), ([last, market]) => {
      const raised = raiseFees(last, market, CAP);
      if (!raised) return;
      expect(raised.maxFee * 10n >= last.maxFee * 11n && raised.tip * 10n >= last.tip * 11n).toBe(true);
      expect(raised.maxFee <= CAP && raised.tip <= raised.maxFee).toBe(true);
    });
  });
});

describe('the market', async () => {
  const chain = await startChain();
  afterAll(chain.stop);

  test('is the next block’s base fee, and what builders were paid', async () => {
    const { privateKey } = devAccount('alice');
    for (let i = 0; i < 5; i++) await sendTransaction(chain.rpc, privateKey, { to: devAccount('bob').address });
    await chain.rpc('anvil_setNextBlockBaseFeePerGas', ['0x77359400']);
    await chain.rpc('evm_mine');
    const { baseFee, tip } = await readFeeMarket({ config, rpc: rpcTo(chain.url) });
    await chain.rpc('evm_mine');
    const next = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { baseFeePerGas: string };
    expect([baseFee, tip]).toEqual([BigInt(next.baseFeePerGas), 1_000_000n]);
    expect(baseFee).toBeLessThan(2n * GWEI);
  });

  test.each([
    [
      'the median of the blocks’ medians',
      { baseFeePerGas: ['0x1', '0x2'], reward: [['0x5f5e100'], ['0xbebc200'], ['0x0']] },
      100_000_000n,
    ],
    ['a floor where there were none', { baseFeePerGas: ['0x2'], reward: null }, 1_000_000n],
    ['and where builders took nothing', { baseFeePerGas: ['0x2'], reward: [['0x0'], ['0x0']] }, 1_000_000n],
  ])('takes %s as the tip', async (_, history, tip) => {
    const node = startUpstream();
    node.answer = (call) => resultOf(call, history);
    expect(await readFeeMarket({ config, rpc: rpcTo(node.url) })).toEqual({ baseFee: 2n, tip });
    await node.stop();
  });

  test.each([
    null,
    { baseFeePerGas: 1 },
    { baseFeePerGas: ['0x1'], reward: 1 },
    { baseFeePerGas: ['0x1'], reward: [null] },
  ])('is 502 rpc_error when the node tells none: %j', async (history) => {
    const node = startUpstream();
    node.answer = (call) => resultOf(call, history);
    expect(await settled(readFeeMarket({ config, rpc: rpcTo(node.url) }))).toThrow(
      expect.objectContaining({ code: 'rpc_error' }),
    );
    await node.stop();
  });
});
