import { findDeployment, readBlockTime, readHead } from '../chain/blocks.ts';
import { findWords } from '../chain/contract-call.ts';
import { readRegistryVersion } from '../chain/registry-version.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import type { ExaminedChain } from './host.ts';

/**
 * Checks that a second registry which follows a first one opens at the time that `vault contracts deploy` set, and
 * existed before. In one that somebody made later, strangers may hold entries of the first one.
 */
export async function checkRegistry(chain: ExaminedChain, registry: string): Promise<readonly Finding[]> {
  const { config, rpc } = chain;
  if ((await readRegistryVersion(chain, registry)) !== 2) return [];
  const view = async (data: string) => (await findWords(rpc, config.chainId, { to: registry, data }, 1))?.[0];
  const [first, word] = [await view(LEGACY_REGISTRY), await view(LEGACY_UNTIL)];
  if (first !== undefined && BigInt(`0x${first}`) === 0n) return [];
  if (word === undefined) return [refused('does not say when it opened')];
  const until = Number(`0x${word}`);
  const told = `opens, for names and DIDs of others, at ${new Date(until * 1000).toISOString()}`;
  if (config.registryLegacyUntil === undefined)
    return [
      warn('contracts', `DID_REGISTRY_ADDRESS ${told}, and REGISTRY_LEGACY_UNTIL is unset`, `set it to ${until}`),
    ];
  if (config.registryLegacyUntil !== until) return [refused(`${told}, not at REGISTRY_LEGACY_UNTIL`)];
  const head = await readHead(chain);
  const born = await findDeployment(chain, [registry], head.number);
  // 0: the node has no state that old.
  if (born > 0 && (await readBlockTime(chain, born)) >= until) return [refused('was deployed after it opened')];
  return [ok('contracts', `DID_REGISTRY_ADDRESS ${told}`)];
}

function refused(text: string): Finding {
  const remedy = 'deploy it again: vault contracts deploy, without REGISTRY_LEGACY_UNTIL';
  return fail('contracts', `DID_REGISTRY_ADDRESS ${text}`, remedy);
}

/** Selectors of `legacyRegistry()` and `legacyUntil()`. */
const LEGACY_REGISTRY = '0xae8c9d13';
const LEGACY_UNTIL = '0xb34f3edb';
