import type { AccountKey } from './account.ts';
import { findWords, GET_OWNER, ZERO_WORD } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** What an account's address may depend on, as its contract says. */
export interface FoundKey {
  readonly key: AccountKey;
  /** The code holds the salt; else it is a guess, 0. */
  readonly showsSalt: boolean;
}

/**
 * The key and the salt of a deployed account; undefined for an address without code or without a key. Whether the
 * account is a factory's own, its predicted address shows. Throws 502 `rpc_error`.
 */
export async function readAccountKey({ config, rpc }: ChainReader, account: string): Promise<FoundKey | undefined> {
  const code = await rpc.call(config.chainId, 'eth_getCode', [account, 'latest']);
  if (code === '0x') return undefined;
  const key = keyOfWords(CLONE.exec(String(code).toLowerCase())?.[1] ?? '');
  if (key) return { key, showsSalt: true };
  // An account of a factory whose proxies have no arguments: only the default salt can be tried.
  const owner = await findWords(rpc, config.chainId, { to: account, data: GET_OWNER }, 2);
  const guess = owner && keyOfWords(`${owner.join('')}${ZERO_WORD}`);
  return guess && { key: guess, showsSalt: false };
}

/** Key and salt from three words, x ‖ y ‖ salt; undefined for anything else. */
export function keyOfWords(words: string): AccountKey | undefined {
  if (!/^[0-9a-f]{192}$/.test(words)) return undefined;
  const at = (start: number) => BigInt(`0x${words.slice(start, start + 64)}`);
  return { x: at(0), y: at(64), salt: at(128) };
}

/** The code of our accounts: an ERC-1167 proxy that ends in its immutable arguments x ‖ y ‖ salt. */
const CLONE = /^0x363d3d373d3d3d363d73[0-9a-f]{40}5af43d82803e903d91602b57fd5bf3([0-9a-f]{192})$/;
