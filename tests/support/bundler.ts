import { type Bundler, type BundlerOptions, startBundler } from '../../scripts/dev-stack/bundler.ts';
import { type Chain, type ChainRpc, connectChain } from '../../scripts/dev-stack/chain.ts';
import { deployEntryPoints } from '../../scripts/dev-stack/entrypoints.ts';
import { type Paymaster, startPaymaster } from '../../scripts/dev-stack/paymaster.ts';

/** A real bundler with a paymaster in front of it: `url` takes the methods of both. */
export interface SponsoredBundler {
  readonly url: string;
  readonly rpc: ChainRpc;
  readonly bundler: Bundler;
  readonly paymaster: Paymaster;
  stop(): Promise<void>;
}

/** A local chain asks a hundred times what Base does: settings of a vault that sponsors there all the same. */
export const LOCAL_MONEY = { SPONSOR_MAX_FEE: '0.02', SPONSOR_DAILY_WEI: '10' } as const;

/** Starts both on a chain (about 1.2 s, 150 MB); end it before the chain. */
export async function startSponsoredBundler(
  { url: rpcUrl, rpc: node }: Pick<Chain, 'url' | 'rpc'>,
  prices: Pick<BundlerOptions, 'tipGwei' | 'floorGwei'> = {},
): Promise<SponsoredBundler> {
  await deployEntryPoints(node);
  const bundler = await startBundler({ rpcUrl, ...prices });
  const path = prices.floorGwei ? '/v2/rpc' : '';
  const paymaster = await startPaymaster({ node, bundlerUrl: `${bundler.url}${path}` });
  const { url } = paymaster;
  const stop = async () => {
    await paymaster.stop();
    await bundler.stop();
  };
  return { url, rpc: connectChain(url), bundler, paymaster, stop };
}
