import { type AccountKey, type AccountKind, computeAddress, type Factory, initCodeOf } from './account.ts';
import type { FactoryFacts } from './account-address.ts';
import { type FactoryReader, factoryOf, readOwnFactory } from './account-factory.ts';

/** What creates an account by CREATE2; 0x-hex. */
export interface AccountCreation {
  readonly factory: string;
  readonly initCode: string;
}

/**
 * What creates a key's account of one of our configured factories at this address (lower-case); undefined if none does.
 * Throws 502 `rpc_error`.
 */
export type FindCreation = (account: string, key: AccountKey) => Promise<AccountCreation | undefined>;

/** Finds creations by what is known of the factories; an unknown one is read. */
export function createFindCreation(chain: FactoryReader, facts: FactoryFacts): FindCreation {
  async function ownFactory(kind: AccountKind): Promise<Factory | undefined> {
    const { own } = facts[kind];
    if (own) return own;
    const factory = factoryOf(chain.config, kind);
    return factory === null ? undefined : ((await readOwnFactory(chain, kind, factory)) ?? undefined);
  }

  return async (account, key) => {
    const factories = await Promise.all(([1, 2] as const).map(ownFactory));
    const creator = factories.find((one) => one && computeAddress(one, key).toLowerCase() === account);
    return creator && { factory: creator.factory, initCode: initCodeOf(creator, key) };
  };
}
