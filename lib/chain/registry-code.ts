import { type Clock, MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { hasCode } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** Whether the configured registry is a contract at all, as far as the node has said. */
export interface RegistryCode {
  /** Throws 503 `registry_missing` where the node says that its address has no code. */
  demand(): Promise<void>;
  /** Whether the node said so last, without asking it. */
  isKnownMissing(): boolean;
}

/** The last answer about the registry's code; several readers may share it. */
export interface RegistryCodeFacts {
  isMissing: boolean;
  /** Until when it is not asked again. */
  until: number;
}

/** Code that was there, and a node that does not answer, are not asked about again for so long. */
const THERE_KEPT_MS = MINUTE_MS;
const SILENCE_KEPT_MS = 10_000;

/** No facts yet. */
export function createRegistryCodeFacts(): RegistryCodeFacts {
  return { isMissing: false, until: 0 };
}

/** Asks about the configured registry. That it is missing may be one wrong answer, so it is asked again each time. */
export function createRegistryCode(
  ctx: ChainReader<'didRegistryAddress'> & { readonly clock: Clock },
  facts: RegistryCodeFacts,
): RegistryCode {
  const { config, clock } = ctx;
  const registry = config.didRegistryAddress;
  return {
    async demand() {
      if (registry === null || clock.monotonic() < facts.until) return;
      const isThere = await hasCode(ctx, registry).catch((failure) => {
        if (failure instanceof VaultError) return undefined;
        throw failure;
      });
      // A node that cannot be asked says nothing of the registry.
      if (isThere !== undefined) facts.isMissing = !isThere;
      if (isThere === false) throw new VaultError('registry_missing');
      facts.until = clock.monotonic() + (isThere ? THERE_KEPT_MS : SILENCE_KEPT_MS);
    },
    isKnownMissing: () => facts.isMissing,
  };
}
