/** Fees of a transaction, EIP-1559. All amounts are wei per gas. */
import { readForm, readQuantity } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** The least tip, in wei per gas. */
const RELAY_TIP_WEI_MIN = 1_000_000;

/** A transaction's fees: the most in all, and the part of it for the block builder. */
export interface TransactionFees {
  readonly maxFee: bigint;
  readonly tip: bigint;
}

/** The price of gas in the next block, in wei per gas. */
export interface FeeMarket {
  readonly baseFee: bigint;
  /** The median of the newest transactions' tips. */
  readonly tip: bigint;
}

/** Reads the fee market from the newest blocks. Throws 502 `rpc_error`. */
export async function readFeeMarket({ config, rpc }: ChainReader): Promise<FeeMarket> {
  const history = (await rpc.call(config.chainId, 'eth_feeHistory', [BLOCKS, 'latest', [50]])) as History | null;
  const tips = readForm(() => (history?.reward ?? []).map(([median]) => readQuantity(median))).sort(ascending);
  const floor = BigInt(RELAY_TIP_WEI_MIN);
  const tip = tips[tips.length >> 1] ?? floor;
  return { baseFee: readForm(() => readQuantity(history?.baseFeePerGas?.at(-1))), tip: tip > floor ? tip : floor };
}

/**
 * The fees to offer: enough for six full blocks of rising base fees. Undefined when the next block already asks for
 * more than `cap`.
 */
export function offerFees({ baseFee, tip }: FeeMarket, cap: bigint): TransactionFees | undefined {
  if (baseFee + tip > cap) return undefined;
  return { maxFee: min(2n * baseFee + tip, cap), tip };
}

/**
 * The fees that replace a transaction of the same nonce: an eighth more in both parts, since nodes demand a tenth, or
 * the market's fees if those are higher. Undefined when an eighth more is over `cap` or not enough.
 */
export function raiseFees(last: TransactionFees, market: FeeMarket, cap: bigint): TransactionFees | undefined {
  const asked = offerFees(market, cap);
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

/** The larger of two amounts. */
export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
