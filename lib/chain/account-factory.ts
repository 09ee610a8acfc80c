import { keccak_256 } from '@noble/hashes/sha3.js';
import * as Address from 'ox/Address';
import { fromHex, toHex } from '../base/bytes.ts';
import type { Log } from '../base/log.ts';
import type { AccountKey, AccountKind, Factory } from './account.ts';
import { findWords, readWords, uint256Word } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** Selector of `getAddress(uint256,uint256,uint256)`. */
const GET_ADDRESS = '0xe81b22ea';
/** Selector of `implementation()`. */
const IMPLEMENTATION = '0x5c60da1b';
/** keccak256 of the runtime codes of `contracts/AccountFactory.sol` and `AccountFactory2.sol`, immutables zero. */
const OWN_CODE_HASHES: Readonly<Record<AccountKind, string>> = {
  1: 'd1c0e4476c138325a8f100c3b3c72a2238c7d6f2b5a2fa2aa5ec1716fc165ec4',
  2: 'c62a7fbc31938bc1b197e0f473b44a33c2fd41e9f0b0dfd5c99649d8178a76d7',
};

/** The settings that name the factories. */
export type Factories = 'hyperauthFactoryAddress' | 'accountFactory2Address';

/** The configured chain with the factories, and where the findings are logged. */
export interface FactoryReader extends ChainReader<Factories> {
  readonly log: Log;
}

/** The configured factory of a kind of accounts; null if there is none. */
export function factoryOf(config: FactoryReader['config'], kind: AccountKind): Address.Address | null {
  return kind === 1 ? config.hyperauthFactoryAddress : config.accountFactory2Address;
}

/** What a factory answers for a key's account. Throws 502 `rpc_error`. */
export async function readPrediction(
  { config, rpc }: ChainReader,
  factory: Address.Address,
  key: AccountKey,
): Promise<Address.Address> {
  const data = `${GET_ADDRESS}${uint256Word(key.x)}${uint256Word(key.y)}${uint256Word(key.salt)}`;
  const [word = ''] = await readWords(rpc, config.chainId, { to: factory, data }, 1);
  return Address.checksum(`0x${word.slice(24)}`);
}

/**
 * Our own factory with its implementation; null when its code is another's, undefined while it has none. Throws 502
 * `rpc_error`.
 */
export async function readOwnFactory(
  { config, rpc }: ChainReader,
  kind: AccountKind,
  factory: Address.Address,
): Promise<Factory | null | undefined> {
  const [code, words] = await Promise.all([
    rpc.call(config.chainId, 'eth_getCode', [factory, 'latest']),
    findWords(rpc, config.chainId, { to: factory, data: IMPLEMENTATION }, 1),
  ]);
  if (typeof code !== 'string' || code === '0x') return undefined;
  const implementation = words?.[0]?.slice(24);
  if (implementation === undefined) return null;
  const bytes = fromHex(code.slice(2).toLowerCase().replaceAll(implementation, '0'.repeat(40)));
  const isOwn = bytes !== undefined && toHex(keccak_256(bytes)) === OWN_CODE_HASHES[kind];
  return isOwn ? { kind, factory, implementation: `0x${implementation}` } : null;
}
