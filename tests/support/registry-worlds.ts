import { type Chain, type ChainOptions, startChain } from '../../scripts/dev-stack/chain.ts';
import { deployBoth } from './registries.ts';

/** A chain with both editions of the registry and of the accounts. */
export type World = Chain & Awaited<ReturnType<typeof deployBoth>>;

/** Starts one for each of these options, under the same name. */
export async function startWorlds(nodes: Readonly<Record<string, ChainOptions>>) {
  const worlds = new Map<string, World>();
  for (const [name, options] of Object.entries(nodes)) {
    const chain = await startChain(options);
    worlds.set(name, { ...chain, ...(await deployBoth(chain.rpc)) });
  }
  return { worlds, stop: () => Promise.all(Array.from(worlds.values(), ({ stop }) => stop())) };
}
