import { PROXY_CODES } from '../../client/known-accounts.ts';
import { ACCOUNT_KINDS, type AccountKey, type AccountKind } from './account.ts';
import { findWords, GET_OWNER, ZERO_WORD } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** The values that an account's address may depend on, as its contract says. */
export interface FoundKey {
  readonly key: AccountKey;
  readonly kind: AccountKind;
  /** The code holds the salt; else it is a guess, 0. */
  readonly showsSalt: boolean;
}

/**
 * The first key and the salt of a deployed account; undefined for an address without code or without a key. Whether
 * the account is a factory's own, its predicted address shows. Throws 502 `rpc_error`.
 */
export async function readAccountKey({ config, rpc }: ChainReader, account: string): Promise<FoundKey | undefined> {
  const code = await rpc.call(config.chainId, 'eth_getCode', [account, 'latest']);
  if (code === '0x') return undefined;
  const found = keyInCode(String(code));
  if (found) return { ...found, showsSalt: true };
  // An account of a factory whose proxies have no arguments: only the default salt can be tried.
  const owner = await findWords(rpc, config.chainId, { to: account, data: GET_OWNER }, 2);
  const guess = owner && keyOfWords(`${owner.join('')}${ZERO_WORD}`);
  return guess && { key: guess, kind: 1, showsSalt: false };
}

/** Key, salt and kind of one of our proxies, from its code; undefined for any other code. */
export function keyInCode(code: string): Omit<FoundKey, 'showsSalt'> | undefined {
  const lower = code.toLowerCase();
  for (const kind of ACCOUNT_KINDS) {
    const key = keyOfWords(ACCOUNT_CODES[kind].exec(lower)?.[1] ?? '');
    if (key) return { key, kind };
  }
  return undefined;
}

/** Key and salt from three words, x ‖ y ‖ salt; undefined for anything else. */
export function keyOfWords(words: string): AccountKey | undefined {
  if (!/^[0-9a-f]{192}$/.test(words)) return undefined;
  const at = (start: number) => BigInt(`0x${words.slice(start, start + 64)}`);
  return { x: at(0), y: at(64), salt: at(128) };
}

/** An account's code around its implementation, and its arguments x ‖ y ‖ salt. */
const ACCOUNT_CODES: Readonly<Record<AccountKind, RegExp>> = { 1: codeOf(1), 2: codeOf(2) };

function codeOf(kind: AccountKind): RegExp {
  const [before, after] = PROXY_CODES[kind];
  return new RegExp(`^0x${before}[0-9a-f]{40}${after}([0-9a-f]{192})$`);
}
