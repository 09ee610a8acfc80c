import { type AccountKey, computeAddress, initCodeOf } from './account.ts';
import type { FactoryReader } from './account-factory.ts';
import { createOwnFactory, type FactoryFacts } from './own-factory.ts';

/** The factory and the init code that create an account by CREATE2; 0x-hex. */
export interface AccountCreation {
  readonly factory: string;
  readonly initCode: string;
}

/**
 * Finds the creation of a key's account at this address (lower-case) by one of our configured factories; undefined if
 * none creates it. Throws 502 `rpc_error`.
 */
export type FindCreation = (account: string, key: AccountKey) => Promise<AccountCreation | undefined>;

/** Finds creations by the known facts about the factories; an unknown factory is identified. */
export function createFindCreation(chain: FactoryReader, facts: FactoryFacts): FindCreation {
  const ours = ([1, 2] as const).map((kind) => createOwnFactory(chain, kind, facts));
  return async (account, key) => {
    const factories = await Promise.all(ours.map((one) => one.find()));
    const creator = factories.find((one) => one && computeAddress(one, key).toLowerCase() === account);
    return creator ? { factory: creator.factory, initCode: initCodeOf(creator, key) } : undefined;
  };
}
