import { afterAll, beforeAll, expect, test } from 'bun:test';
import { AbiFunction, type Hex } from 'ox';
import { CHAINS } from '../../../lib/config/chain-settings.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { mintUsdc, placeUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';

let chain: Chain;
beforeAll(async () => {
  chain = await startChain();
});
afterAll(() => chain.stop());

async function read(signature: string, args: readonly unknown[] = []): Promise<unknown> {
  const item = AbiFunction.from(signature) as AbiFunction.AbiFunction;
  const call = { to: USDC, data: AbiFunction.encodeData(item, args as never) };
  return AbiFunction.decodeResult(item, (await chain.rpc('eth_call', [call, 'latest'])) as Hex.Hex);
}

test("the local USDC is at the real one's address with its symbol and decimals, and anyone is given some", async () => {
  expect(CHAINS[84532]?.['USDC_ADDRESS']).toBe(USDC);
  await placeUsdc(chain.rpc);
  expect(await read('function symbol() view returns (string)')).toBe('USDC');
  expect(await read('function decimals() view returns (uint8)')).toBe(6);
  const { address } = devAccount('alice');
  await mintUsdc(chain.rpc, address, 1_500_000n);
  expect(await read('function balanceOf(address) view returns (uint256)', [address])).toBe(1_500_000n);
});
