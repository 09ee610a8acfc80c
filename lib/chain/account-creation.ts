import { type AccountKey, computeAddress, initCodeOf } from './account.ts';
import type { FactoryReader } from './account-factory.ts';
import { createOwnFactory, type FactoryFacts } from './own-factory.ts';

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

/** Finds creations by what is known of the factories; an unknown one is identified. */
export function createFindCreation(chain: FactoryReader, facts: FactoryFacts): FindCreation {
  const ours = ([1, 2] as const).map((kind) => createOwnFactory(chain, kind, facts));
  return async (account, key) => {
    const factories = await Promise.all(ours.map((one) => one.find()));
    const creator = factories.find((one) => one && computeAddress(one, key).toLowerCase() === account);
    return creator ? { factory: creator.factory, initCode: initCodeOf(creator, key) } : undefined;
  };
}
