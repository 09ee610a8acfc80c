import { keccak_256 } from '@noble/hashes/sha3.js';
import * as Address from 'ox/Address';
import { fromHex, toHex } from '../base/bytes.ts';
import { rpcError } from '../base/error.ts';
import { describeError, type Log } from '../base/log.ts';
import { type Cache, createCache } from '../base/lru-cache.ts';
import type { Config } from '../config/config.ts';
import { type AccountKey, computeAddress, type Factory } from './account.ts';
import { findWords, readWords, uint256Word } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** Addresses kept in memory, and how many are computed until one is compared with the chain. */
const PREDICTIONS_CACHED_MAX = 10_000;
export const PREDICTIONS_UNCHECKED_MAX = 1_000;

/**
 * The address (EIP-55) of a key's account of the configured factory, deployed or not. Throws 502 `rpc_error` when
 * only the chain can answer and does not.
 */
export type PredictAddress = (key: AccountKey) => Promise<Address.Address>;

/** What is known about the factory; several predictors may share it. */
export interface FactoryFacts {
  /** Our own factory; undefined until it has been identified, null when it is another's. */
  own: Factory | null | undefined;
  /** Addresses computed since one was compared with the chain. */
  unchecked: number;
  /** What the factory answered, which never changes. */
  readonly answers: Cache<string, Address.Address>;
}

interface Chain extends ChainReader<'hyperauthFactoryAddress'> {
  readonly log: Log;
}

/** No facts yet; with `predictLocally` false, no address is ever computed. */
export function createFactoryFacts({ predictLocally }: Pick<Config, 'predictLocally'>): FactoryFacts {
  return { own: predictLocally ? undefined : null, unchecked: 0, answers: createCache(PREDICTIONS_CACHED_MAX) };
}

/**
 * Predicts as the factory's `getAddress` does. The factory is asked until it is identified as our own. From then on
 * addresses are computed, and one of every `PREDICTIONS_UNCHECKED_MAX` is compared with the factory's answer.
 */
export function createPredictAddress(chain: Chain, facts: FactoryFacts): PredictAddress {
  const { config, log } = chain;
  let identifying: Promise<void> | undefined;

  async function identify(factory: Address.Address): Promise<void> {
    try {
      facts.own = await readOwnFactory(chain, factory);
      const { own } = facts;
      if (own !== undefined) log({ level: 'info', event: 'account_factory', factory, own: own !== null });
    } catch (error) {
      log({ level: 'warn', event: 'account_factory_unread', ...describeError(error) });
    } finally {
      identifying = undefined;
    }
  }

  /** Asks the factory, whose answer wins: the chain may be another one than when the factory was identified. */
  async function ask(factory: Address.Address, key: AccountKey): Promise<Address.Address> {
    if (facts.own === undefined) identifying ??= identify(factory);
    // Together, so that the first prediction is one batch.
    const [address] = await Promise.all([readAddress(chain, factory, key), identifying]);
    if (facts.own && computeAddress(facts.own, key) !== address) {
      facts.own = null;
      log({ level: 'error', event: 'prediction_differs', factory, address });
    }
    return address;
  }

  async function askOnce(factory: Address.Address, key: AccountKey): Promise<Address.Address> {
    const name = `${key.x} ${key.y} ${key.salt}`;
    const address = facts.answers.get(name) ?? (await ask(factory, key));
    facts.answers.set(name, address);
    return address;
  }

  return async (key) => {
    const factory = config.hyperauthFactoryAddress;
    if (!factory) throw rpcError('HYPERAUTH_FACTORY_ADDRESS is not set');
    if (!facts.own) return askOnce(factory, key);
    if (++facts.unchecked >= PREDICTIONS_UNCHECKED_MAX) {
      facts.unchecked = 0;
      // Not awaited, so that an unreachable chain delays no prediction.
      ask(factory, key).catch(() => undefined);
    }
    return computeAddress(facts.own, key);
  };
}

/** Selector of `getAddress(uint256,uint256,uint256)`. */
const GET_ADDRESS = '0xe81b22ea';
/** Selector of `implementation()`. */
const IMPLEMENTATION = '0x5c60da1b';
/** keccak256 of the runtime code of `contracts/AccountFactory.sol` with its immutables zero. */
const OWN_CODE_HASH = 'd1c0e4476c138325a8f100c3b3c72a2238c7d6f2b5a2fa2aa5ec1716fc165ec4';

async function readAddress(
  { config, rpc }: Chain,
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
async function readOwnFactory({ config, rpc }: Chain, factory: Address.Address): Promise<Factory | null | undefined> {
  const [code, words] = await Promise.all([
    rpc.call(config.chainId, 'eth_getCode', [factory, 'latest']),
    findWords(rpc, config.chainId, { to: factory, data: IMPLEMENTATION }, 1),
  ]);
  if (typeof code !== 'string' || code === '0x') return undefined;
  const implementation = words?.[0]?.slice(24);
  if (implementation === undefined) return null;
  const bytes = fromHex(code.slice(2).toLowerCase().replaceAll(implementation, '0'.repeat(40)));
  const isOwn = bytes !== undefined && toHex(keccak_256(bytes)) === OWN_CODE_HASH;
  return isOwn ? { factory, implementation: `0x${implementation}` } : null;
}
