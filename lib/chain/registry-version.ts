import { type Clock, MINUTE_MS } from '../base/clock.ts';
import { findWords } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** The edition of a registry: the second one registers for others only with a consent. */
export type RegistryVersion = 1 | 2;

/** Known facts about the configured registry; several readers may share them. */
export interface RegistryFacts {
  version: RegistryVersion | undefined;
  /** Until when it is believed. */
  until: number;
}

/** How long a registry counts as the first edition; code that answers as the second one never changes. */
const FIRST_KEPT_MS = MINUTE_MS;

/** No facts yet. */
export function createRegistryFacts(): RegistryFacts {
  return { version: undefined, until: 0 };
}

/** The edition of the configured registry: 2 if it says so, else 1. Throws 502 `rpc_error`. */
export async function readRegistryVersion({ config, rpc }: ChainReader, registry: string): Promise<RegistryVersion> {
  const words = await findWords(rpc, config.chainId, { to: registry, data: VERSION }, 1);
  return words !== undefined && BigInt(`0x${words[0]}`) === 2n ? 2 : 1;
}

/** Reads the edition of the configured registry once. */
export function createRegistryVersion(
  ctx: ChainReader<'didRegistryAddress'> & { readonly clock: Clock },
  facts: RegistryFacts,
): () => Promise<RegistryVersion> {
  const { config, clock } = ctx;
  return async () => {
    const registry = config.didRegistryAddress;
    if (registry === null) return 1;
    if (facts.version !== undefined && clock.monotonic() < facts.until) return facts.version;
    facts.version = await readRegistryVersion(ctx, registry);
    facts.until = facts.version === 2 ? Number.POSITIVE_INFINITY : clock.monotonic() + FIRST_KEPT_MS;
    return facts.version;
  };
}

/** Selector of `version()`. */
const VERSION = '0x54fd4d50';
