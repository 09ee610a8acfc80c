import type * as Address from 'ox/Address';
import type { AccountFactory } from '../../client/known-accounts.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { describeError } from '../base/log.ts';
import { type Cache, createCache } from '../base/lru-cache.ts';
import type { Config } from '../config/config.ts';
import type { AccountKind } from './account.ts';
import { type FactoryReader, factoryOf, knownFactory, readOwnFactory } from './account-factory.ts';
import { reportContradiction } from './contradiction.ts';

/** Known facts about the factories, by the kind of their accounts; several requests may share them. */
export type FactoryFacts = Readonly<Record<AccountKind, KindFacts>>;

interface KindFacts {
  /** For one at an unknown address: undefined until it has been identified, null when it is another's. */
  own: AccountFactory | null | undefined;
  /** Until when that is believed. */
  until: number;
  /** Addresses computed since one was compared with the chain. */
  unchecked: number;
  /** The answers of a factory that is not ours, by key. */
  readonly answers: Cache<string, { readonly address: Address.Address; readonly until: number }>;
}

/** Answers kept in memory, and how many addresses are computed until one is compared with the chain. */
const PREDICTIONS_CACHED_MAX = 10_000;
export const PREDICTIONS_UNCHECKED_MAX = 1_000;

/** How long a factory's identification is believed: a node that lies once must not be believed for good. */
export const OWN_KEPT_MS = 60 * MINUTE_MS;
export const FOREIGN_KEPT_MS = MINUTE_MS;

/** No facts yet; with `predictLocally` false, a factory at no known address counts as another's. */
export function createFactoryFacts({ predictLocally }: Pick<Config, 'predictLocally'>): FactoryFacts {
  const ofKind = (): KindFacts => ({
    ...(predictLocally ? { own: undefined, until: 0 } : { own: null, until: Number.POSITIVE_INFINITY }),
    unchecked: PREDICTIONS_UNCHECKED_MAX - 1,
    answers: createCache(PREDICTIONS_CACHED_MAX),
  });
  return { 1: ofKind(), 2: ofKind() };
}

/** Finds out whether the configured factory of a kind is our own. */
export interface OwnFactory {
  /** Without a question: our own factory, undefined if it is another's or not identified. */
  known(): AccountFactory | undefined;
  /**
   * Identifies it if that is not known; null when it is another's, undefined while it has no code. Throws 502
   * `rpc_error`.
   */
  find(): Promise<AccountFactory | null | undefined>;
  /** Identifies it again at the next question. */
  doubt(): void;
}

/**
 * Our own factory at a known address needs no question. One at another address is identified by its code, again each
 * hour; a factory that is not ours, each minute. While that fails, the last result stands.
 */
export function createOwnFactory(chain: FactoryReader, kind: AccountKind, facts: FactoryFacts): OwnFactory {
  const { config, log, clock } = chain;
  const factory = factoryOf(config, kind);
  const fixed = factory === null ? undefined : knownFactory(kind, factory);
  const known = facts[kind];
  let identifying: Promise<void> | undefined;

  async function identify(): Promise<void> {
    if (factory === null) return;
    try {
      const own = await readOwnFactory(chain, kind, factory);
      if (own === undefined) return;
      const isOwn = own !== null;
      if (known.own === undefined)
        log({ level: isOwn ? 'info' : 'warn', event: 'account_factory', factory, kind, own: isOwn });
      else if (isOwn !== (known.own !== null)) reportContradiction(chain, 'factory', { factory, kind, own: isOwn });
      known.own = own;
      known.until = clock.monotonic() + (isOwn ? OWN_KEPT_MS : FOREIGN_KEPT_MS);
    } catch (error) {
      log({ level: 'warn', event: 'account_factory_unread', kind, ...describeError(error) });
      throw error;
    } finally {
      identifying = undefined;
    }
  }

  return {
    known: () => fixed ?? known.own ?? undefined,
    async find() {
      if (fixed || clock.monotonic() < known.until) return fixed ?? known.own;
      identifying ??= identify();
      if (!known.own) await identifying;
      // An unreachable chain delays nothing that is known.
      else identifying.catch(() => undefined);
      return known.own;
    },
    doubt() {
      if (known.until !== Number.POSITIVE_INFINITY) known.until = 0;
    },
  };
}
