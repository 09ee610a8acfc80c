import { max, offerFees, readFeeMarket, type TransactionFees } from '../chain/fees.ts';
import type { ChainReader } from '../chain/rpc.ts';
import type { Bundler } from './client.ts';

/** More wei per unit of gas than any chain asks for; numbers of a database hold it exactly. */
const FEE_WEI_MAX = 10n ** 15n;

/**
 * The price that a user operation offers: that of the next blocks, or the bundler's where it is higher. Undefined where
 * one of them asks for more than anybody could pay. Throws 502 `rpc_error`.
 */
export async function readPrice(
  chain: ChainReader & { readonly bundler: Pick<Bundler, 'price'> | undefined },
): Promise<TransactionFees | undefined> {
  const [market, asked] = await Promise.all([readFeeMarket(chain), chain.bundler?.price()]);
  const tip = max(market.tip, asked?.tip ?? 0n);
  const offered = offerFees({ ...market, tip }, FEE_WEI_MAX);
  if (!offered || (asked && asked.maxFee > FEE_WEI_MAX)) return undefined;
  return { maxFee: max(offered.maxFee, asked?.maxFee ?? 0n), tip };
}
