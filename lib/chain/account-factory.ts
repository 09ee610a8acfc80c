import { keccak_256 } from '@noble/hashes/sha3.js';
import * as Address from 'ox/Address';
import * as ContractAddress from 'ox/ContractAddress';
import { type AccountFactory, KNOWN_ACCOUNTS } from '../../client/known-accounts.ts';
import { fromHex, toHex } from '../base/bytes.ts';
import { ACCOUNT_KINDS, type AccountKey, type AccountKind } from './account.ts';
import { addressWord, findWords, readCode, readWords, uint256Word } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';
import { agreed, type Witnessed } from './witness.ts';

/** Selector of `getAddress(uint256,uint256,uint256)`. */
const GET_ADDRESS = '0xe81b22ea';
/** keccak256 of the runtime codes of `contracts/AccountFactory.sol` and `AccountFactory2.sol`, immutables zero. */
const OWN_CODE_HASHES: Readonly<Record<AccountKind, string>> = {
  1: 'd1c0e4476c138325a8f100c3b3c72a2238c7d6f2b5a2fa2aa5ec1716fc165ec4',
  2: '27aeee6147322493ceab529bcf4f5816fb6eaa2850f2b30dd0d6db133707f989',
};

/** The settings that name the factories. */
export type Factories = 'hyperauthFactoryAddress' | 'accountFactory2Address' | 'accountFactoriesFormer';

/** The configured chain with the factories. */
export type FactoryReader = Witnessed<Factories>;

/** The configured factory of a kind of accounts; null if there is none. */
export function factoryOf(config: FactoryReader['config'], kind: AccountKind): Address.Address | null {
  return kind === 1 ? config.hyperauthFactoryAddress : config.accountFactory2Address;
}

/** Our own factory of this kind at a known address, where no other code can be; undefined for any other address. */
export function knownFactory(kind: AccountKind, factory: Address.Address): AccountFactory | undefined {
  return KNOWN_ACCOUNTS.find((one) => one.kind === kind && one.factory.toLowerCase() === factory.toLowerCase());
}

/** A factory's own answer for the address of a key's account. Throws 502 `rpc_error`. */
export function readPrediction(
  chain: FactoryReader,
  factory: Address.Address,
  key: AccountKey,
): Promise<Address.Address> {
  const data = predictionCall(key);
  return agreed(chain, 'factory', async ({ config, rpc }) => {
    const [word = ''] = await readWords(rpc, config.chainId, { to: factory, data }, 1);
    return Address.checksum(`0x${word.slice(24)}`);
  });
}

/** A factory of our own code; null when its code is not ours, undefined while it has none. Throws 502 `rpc_error`. */
export async function readOwnFactory(
  chain: FactoryReader,
  kind: AccountKind,
  factory: Address.Address,
): Promise<AccountFactory | null | undefined> {
  const code = await agreed(chain, 'factory', (one) => readCode(one, factory));
  if (code === '0x') return undefined;
  // The first contract that a factory creates, by CREATE with the nonce 1.
  const implementation = ContractAddress.fromCreate({ from: factory, nonce: 1n }).toLowerCase();
  const bytes = fromHex(code.slice(2).replaceAll(implementation.slice(2), '0'.repeat(40)));
  const isOwn = bytes !== undefined && toHex(keccak_256(bytes)) === OWN_CODE_HASHES[kind];
  return isOwn ? { kind, factory, implementation } : null;
}

/**
 * The former factory of the second kind that created an account with this key in its code, as it says itself: its
 * creation code may be another edition's. Null if none did. Throws 502 `rpc_error`.
 */
export async function formerFactoryOf(
  { config, rpc }: ChainReader<'accountFactoriesFormer'>,
  account: string,
  { key, kind }: { readonly key: AccountKey; readonly kind: AccountKind },
): Promise<Address.Address | null> {
  if (kind !== 2) return null;
  for (const to of config.accountFactoriesFormer) {
    const words = await findWords(rpc, config.chainId, { to, data: predictionCall(key) }, 1);
    if (words?.[0] === addressWord(account)) return to;
  }
  return null;
}

function predictionCall({ x, y, salt }: AccountKey): string {
  return `${GET_ADDRESS}${uint256Word(x)}${uint256Word(y)}${uint256Word(salt)}`;
}

/**
 * The known factories, the configured ones that are of our own code elsewhere, and the former ones. Throws 502
 * `rpc_error`.
 */
export async function ownFactories(chain: FactoryReader): Promise<readonly AccountFactory[]> {
  const configured = ACCOUNT_KINDS.map(async (kind) => {
    const factory = factoryOf(chain.config, kind);
    return factory === null || knownFactory(kind, factory) ? null : readOwnFactory(chain, kind, factory);
  });
  const former = chain.config.accountFactoriesFormer.map((factory) => {
    const implementation = ContractAddress.fromCreate({ from: factory, nonce: 1n });
    return { kind: 2, factory, implementation } as const;
  });
  return [...KNOWN_ACCOUNTS, ...(await Promise.all(configured)).filter((one) => one != null), ...former];
}
