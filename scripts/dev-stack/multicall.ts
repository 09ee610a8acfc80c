import type { Hex } from 'ox';
import type { ChainRpc } from './chain.ts';

/** Where every public chain has it: https://www.multicall3.com */
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';
/** viem has its creation code, in a file that the package does not export. */
const CODE = new URL('../../node_modules/viem/_esm/constants/contracts.js', import.meta.url).href;

/** Puts Multicall3 at its address: libraries ask several things by one call of it, as facilitators of x402 do. */
export async function placeMulticall(rpc: ChainRpc): Promise<void> {
  const { multicall3Bytecode: data } = (await import(CODE)) as { multicall3Bytecode: Hex.Hex };
  await rpc('anvil_setCode', [MULTICALL3, await rpc('eth_call', [{ data }, 'latest'])]);
}
