/** The keys of an account by its own answer: `getKeys` of the second kind and `getOwner` of the first. */
import { findAnswer, GET_OWNER, uint256Word, wordsOf, ZERO_WORD } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** One key of an account of the second kind, as the account says. */
export interface OwnerKey {
  readonly index: number;
  /** 32 bytes each, 0x-hex, lower-case; y is zero for the key of an Ethereum address, which x is then. */
  readonly x: string;
  readonly y: string;
  /** Seconds since 1970; 0 if it came with the account. */
  readonly addedAt: number;
  /** 32 bytes, 0x-hex. */
  readonly label: string;
}

/** The P-256 keys of an account: each 0x and x ‖ y in lower-case hex. */
export interface ShownKeys {
  readonly keys: readonly string[];
  /** Whether the account can have several: then they may change. */
  readonly isSeveral: boolean;
}

/** The most keys that an account of the second kind has. */
export const OWNER_KEYS_MAX = 32;

/**
 * The keys that a contract shows, in the state of `block` (a tag or a quantity). Empty for an address without code and
 * for a contract that answers neither question. Throws 502 `rpc_error` when the node cannot be asked.
 */
export async function readShownKeys(
  { config, rpc }: ChainReader,
  account: string,
  block = 'latest',
): Promise<ShownKeys> {
  const call = (data: string, gas: string) => findAnswer(rpc, config.chainId, { to: account, data, gas }, block);
  const [several, one] = await Promise.all([call(GET_KEYS, KEYS_GAS), call(GET_OWNER, OWNER_GAS)]);
  const keys = parseKeys(several);
  if (keys) return { keys: keys.filter(({ y }) => y !== ZERO).map(({ x, y }) => x + y.slice(2)), isSeveral: true };
  return { keys: one !== undefined && /^0x[0-9a-f]{128}$/.test(one) ? [one] : [], isSeveral: false };
}

/** The keys in an answer of `getKeys`; undefined for any other answer. */
export function parseKeys(answer: string | undefined): readonly OwnerKey[] | undefined {
  const count = Number(`0x${answer?.slice(66, 130) || '0'}`);
  if (count === 0 || count > OWNER_KEYS_MAX) return undefined;
  const words = wordsOf(answer, 2 + KEY_WORDS * count);
  if (words?.[0] !== uint256Word(32n)) return undefined;
  const keys = Array.from({ length: count }, (_, i) => keyIn(words.slice(2 + KEY_WORDS * i)));
  return keys.every((key) => key !== undefined) ? keys : undefined;
}

function keyIn([index, x, y, addedAt, label]: readonly string[]): OwnerKey | undefined {
  const [place, time] = [numberWithin(index, 1), numberWithin(addedAt, 5)];
  if (place === undefined || time === undefined) return undefined;
  return { index: place, x: `0x${x}`, y: `0x${y}`, addedAt: time, label: `0x${label}` };
}

/** The number of a word that must fit so many bytes, at most 6; undefined for a greater one. */
export function numberWithin(word: string | undefined, bytes: number): number | undefined {
  const value = Number(`0x${word}`);
  return value < 2 ** (8 * bytes) ? value : undefined;
}

/** Selector of `getKeys()`. */
export const GET_KEYS = '0x2150c518';
/** Words of one key in the answer. */
const KEY_WORDS = 5;
const ZERO = `0x${ZERO_WORD}`;

/** A stranger's contract can neither keep the node busy nor answer with megabytes. */
export const KEYS_GAS = '0xf4240';
const OWNER_GAS = '0x493e0';
