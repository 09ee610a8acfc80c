import type * as Address from 'ox/Address';
import { rpcError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { type Cache, createCache } from '../base/lru-cache.ts';
import type { Config } from '../config/config.ts';
import { type AccountKey, type AccountKind, computeAddress, type Factory } from './account.ts';
import { type FactoryReader, factoryOf, readOwnFactory, readPrediction } from './account-factory.ts';

/** Addresses of a kind kept in memory, and how many are computed until one is compared with the chain. */
const PREDICTIONS_CACHED_MAX = 10_000;
export const PREDICTIONS_UNCHECKED_MAX = 1_000;

/**
 * The address (EIP-55) of a key's account of the configured factory of its kind (the first one if absent), deployed or
 * not. Throws 502 `rpc_error` when only the chain can answer and does not, and without such a factory.
 */
export type PredictAddress = (key: AccountKey, kind?: AccountKind) => Promise<Address.Address>;

/** What is known about the factories, by the kind of their accounts; several predictors may share it. */
export type FactoryFacts = Readonly<Record<AccountKind, KindFacts>>;

interface KindFacts {
  /** Our own factory; undefined until it has been identified, null when it is another's. */
  own: Factory | null | undefined;
  /** Addresses computed since one was compared with the chain. */
  unchecked: number;
  /** What the factory answered, which never changes. */
  readonly answers: Cache<string, Address.Address>;
}

/** No facts yet; with `predictLocally` false, no address is ever computed. */
export function createFactoryFacts({ predictLocally }: Pick<Config, 'predictLocally'>): FactoryFacts {
  const ofKind = (): KindFacts => ({
    own: predictLocally ? undefined : null,
    unchecked: 0,
    answers: createCache(PREDICTIONS_CACHED_MAX),
  });
  return { 1: ofKind(), 2: ofKind() };
}

/**
 * Predicts as the factory's `getAddress` does. The factory is asked until it is identified as our own. From then on
 * addresses are computed, and one of every `PREDICTIONS_UNCHECKED_MAX` is compared with the factory's answer.
 */
export function createPredictAddress(chain: FactoryReader, facts: FactoryFacts): PredictAddress {
  const ofKind = { 1: createPredictor(chain, 1, facts[1]), 2: createPredictor(chain, 2, facts[2]) };
  return (key, kind = 1) => ofKind[kind](key);
}

function createPredictor(chain: FactoryReader, kind: AccountKind, facts: KindFacts) {
  const { config, log } = chain;
  let identifying: Promise<void> | undefined;

  async function identify(factory: Address.Address): Promise<void> {
    try {
      facts.own = await readOwnFactory(chain, kind, factory);
      const { own } = facts;
      if (own !== undefined) log({ level: 'info', event: 'account_factory', factory, kind, own: own !== null });
    } catch (error) {
      log({ level: 'warn', event: 'account_factory_unread', kind, ...describeError(error) });
    } finally {
      identifying = undefined;
    }
  }

  /** Asks the factory, whose answer wins: the chain may be another one than when the factory was identified. */
  async function ask(factory: Address.Address, key: AccountKey): Promise<Address.Address> {
    if (facts.own === undefined) identifying ??= identify(factory);
    // Together, so that the first prediction is one batch.
    const [address] = await Promise.all([readPrediction(chain, factory, key), identifying]);
    if (facts.own && computeAddress(facts.own, key) !== address) {
      facts.own = null;
      log({ level: 'error', event: 'prediction_differs', factory, kind, address });
    }
    return address;
  }

  async function askOnce(factory: Address.Address, key: AccountKey): Promise<Address.Address> {
    const name = `${key.x} ${key.y} ${key.salt}`;
    const address = facts.answers.get(name) ?? (await ask(factory, key));
    facts.answers.set(name, address);
    return address;
  }

  return async (key: AccountKey) => {
    const factory = factoryOf(config, kind);
    if (!factory) throw rpcError(`no factory of kind ${kind} is set`);
    if (!facts.own) return askOnce(factory, key);
    if (++facts.unchecked >= PREDICTIONS_UNCHECKED_MAX) {
      facts.unchecked = 0;
      // Not awaited, so that an unreachable chain delays no prediction.
      ask(factory, key).catch(() => undefined);
    }
    return computeAddress(facts.own, key);
  };
}
