import type * as Address from 'ox/Address';
import type { AccountFactory } from '../../client/known-accounts.ts';
import { rpcError } from '../base/error.ts';
import { type AccountKey, type AccountKind, computeAddress } from './account.ts';
import { type FactoryReader, factoryOf, readPrediction } from './account-factory.ts';
import { reportContradiction } from './contradiction.ts';
import { createOwnFactory, type FactoryFacts, FOREIGN_KEPT_MS, PREDICTIONS_UNCHECKED_MAX } from './own-factory.ts';

/**
 * The address (EIP-55) of a key's account of the configured factory of its kind (the first one if absent), deployed or
 * not. Throws 502 `rpc_error` when only the chain can answer and does not, and without such a factory.
 */
export type PredictAddress = (key: AccountKey, kind?: AccountKind) => Promise<Address.Address>;

/**
 * Predicts as the factory's `getAddress` does. Addresses of our own factory are computed. The first, and one of every
 * `PREDICTIONS_UNCHECKED_MAX`, is compared with the chain's answer; a difference is only logged. Any other factory is
 * asked, again after a minute.
 */
export function createPredictAddress(chain: FactoryReader, facts: FactoryFacts): PredictAddress {
  const ofKind = { 1: createPredictor(chain, 1, facts), 2: createPredictor(chain, 2, facts) };
  return (key, kind = 1) => ofKind[kind](key);
}

function createPredictor(chain: FactoryReader, kind: AccountKind, facts: FactoryFacts) {
  const { config, clock } = chain;
  const own = createOwnFactory(chain, kind, facts);
  const known = facts[kind];

  async function ask(factory: Address.Address, key: AccountKey): Promise<Address.Address> {
    const name = `${key.x} ${key.y} ${key.salt}`;
    const answer = known.answers.get(name);
    if (answer && clock.monotonic() < answer.until) return answer.address;
    const address = await readPrediction(chain, factory, key);
    known.answers.set(name, { address, until: clock.monotonic() + FOREIGN_KEPT_MS });
    return address;
  }

  /** Not awaited, so that an unreachable chain delays no prediction. */
  async function compare(by: AccountFactory, key: AccountKey, asked: Promise<Address.Address>): Promise<void> {
    const address = await asked.catch(() => undefined);
    if (address === undefined || address === computeAddress(by, key)) return;
    reportContradiction(chain, 'prediction', { factory: by.factory, kind, address });
    own.doubt();
  }

  return async (key: AccountKey) => {
    const factory = factoryOf(config, kind);
    if (!factory) throw rpcError(`no factory of kind ${kind} is set`);
    // Together, so that the first prediction is one batch.
    const asked = own.known() ? undefined : ask(factory, key);
    asked?.catch(() => undefined);
    const by = await own.find().catch(() => undefined);
    if (!by) return asked ?? ask(factory, key);
    if (++known.unchecked >= PREDICTIONS_UNCHECKED_MAX) {
      known.unchecked = 0;
      void compare(by, key, asked ?? readPrediction(chain, factory, key));
    }
    return computeAddress(by, key);
  };
}
