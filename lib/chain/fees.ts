/** Fees of a transaction, EIP-1559. All amounts are wei per gas. */
import { readForm, readQuantity } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** The least that a block builder is offered, in wei per gas. */
const RELAY_TIP_WEI_MIN = 1_000_000;

/** What a transaction offers: the most in all, and the part of it that is the block builder's. */
export interface Fees {
  readonly maxFee: bigint;
  readonly tip: bigint;
}

/** What the next block asks for. */
export interface Market {
  readonly baseFee: bigint;
  /** What half of the newest transactions paid their builders at most. */
  readonly tip: bigint;
}

/** The market by the newest blocks. Throws 502 `rpc_error`. */
export async function readMarket({ config, rpc }: ChainReader): Promise<Market> {
  const history = (await rpc.call(config.chainId, 'eth_feeHistory', [BLOCKS, 'latest', [50]])) as History | null;
  const tips = readForm(() => (history?.reward ?? []).map(([median]) => readQuantity(median))).sort(ascending);
  const floor = BigInt(RELAY_TIP_WEI_MIN);
  const tip = tips[tips.length >> 1] ?? floor;
  return { baseFee: readForm(() => readQuantity(history?.baseFeePerGas?.at(-1))), tip: tip > floor ? tip : floor };
}

/** What to offer in this market: enough for six full blocks of rising base fees. Undefined when the next block already asks for more than `cap`. */
export function offer({ baseFee, tip }: Market, cap: bigint): Fees | undefined {
  if (baseFee + tip > cap) return undefined;
  return { maxFee: min(2n * baseFee + tip, cap), tip };
}

/**
 * The offer that replaces another at the same nonce: an eighth more in both parts, since nodes demand a tenth, and what the market asks where
 * that is more. Undefined when an eighth more is over `cap`, or would not do.
 */
export function raise(last: Fees, market: Market, cap: bigint): Fees | undefined {
  const asked = offer(market, cap);
  const least = anEighthMore(last.maxFee);
  if (!asked || least > cap) return undefined;
  const maxFee = max(least, asked.maxFee);
  return { maxFee, tip: min(max(anEighthMore(last.tip), asked.tip), maxFee) };
}

const BLOCKS = '0x5';

interface History {
  /** One more than the blocks asked for: the last is the next block's. */
  readonly baseFeePerGas?: readonly string[];
  readonly reward?: readonly (readonly string[])[] | null;
}

/** ×1.125, rounded up. */
function anEighthMore(amount: bigint): bigint {
  return (amount * 9n + 7n) / 8n;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
