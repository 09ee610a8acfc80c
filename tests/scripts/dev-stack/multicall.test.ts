import { afterAll, expect, test } from 'bun:test';
import { createPublicClient, http, parseAbi } from 'viem';
import { baseSepolia } from 'viem/chains';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { placeMulticall } from '../../../scripts/dev-stack/multicall.ts';
import { placeUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';

const { rpc, url, stop } = await startChain();
afterAll(stop);

test('several calls are one on the local chain, as on public ones, and one that fails is told apart', async () => {
  await placeUsdc(rpc);
  const client = createPublicClient({ chain: baseSepolia, transport: http(url) });
  const abi = parseAbi(['function symbol() view returns (string)', 'function nothing() view returns (string)']);
  const ask = () =>
    client.multicall({
      contracts: (['symbol', 'nothing'] as const).map((functionName) => ({ address: USDC, abi, functionName })),
    });
  expect((await ask()).map(({ status }) => status)).toEqual(['failure', 'failure']);
  await placeMulticall(rpc);
  expect(await ask()).toMatchObject([{ status: 'success', result: 'USDC' }, { status: 'failure' }]);
});
