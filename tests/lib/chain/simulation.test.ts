import { afterAll, beforeAll, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createRpc } from '../../../lib/chain/rpc.ts';
import { simulateCall } from '../../../lib/chain/simulation.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';

let chain: Chain;
beforeAll(async () => {
  chain = await startChain();
});
afterAll(() => chain.stop());

test('a call is simulated at the fees of its transaction: code that asks for its price does as it will do', async () => {
  const to = `0x${'3a'.repeat(20)}`;
  // Reverts where tx.gasprice is not 0.
  await chain.rpc('anvil_setCode', [to, '0x3a600557005b5f5ffd']);
  const outside = { fetch, clock: systemClock, metrics: createMetrics(), log: () => undefined };
  const rpc = createRpc({ ...outside, urls: { 84532: chain.url } });
  const call = { from: devAccount('bob').address, to, data: '0x' };
  const simulate = (more: object) => simulateCall({ config: { chainId: 84532 }, rpc }, { ...call, ...more }, {});
  expect(await simulate({})).toEqual({ gas: expect.any(BigInt) });
  const fees = { maxFee: 3_000_000_000n, tip: 1_000_000n };
  expect(await simulate({ fees })).toEqual({ refusal: 'reverted' });
});
