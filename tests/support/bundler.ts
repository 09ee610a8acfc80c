import { type Bundler, startBundler } from '../../scripts/dev-stack/bundler.ts';
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

/** Starts both on a chain (about 1.2 s, 150 MB); end it before the chain. */
export async function startSponsoredBundler({
  url: rpcUrl,
  rpc: node,
}: Pick<Chain, 'url' | 'rpc'>): Promise<SponsoredBundler> {
  await deployEntryPoints(node);
  const bundler = await startBundler({ rpcUrl });
  const paymaster = await startPaymaster({ node, bundlerUrl: bundler.url });
  const { url } = paymaster;
  const stop = async () => {
    await paymaster.stop();
    await bundler.stop();
  };
  return { url, rpc: connectChain(url), bundler, paymaster, stop };
}
