/** Reads the guardian and the pending recovery of an account (`contracts/Account2.sol`). */
import type { PredictAddress } from './account-address.ts';
import { type Factories, factoryOf, formerFactoryOf } from './account-factory.ts';
import { keyInCode } from './account-key.ts';
import {
  findAnswer,
  findWords,
  readCode,
  readWords,
  toQuantity,
  uint256Word,
  wordsOf,
  ZERO_WORD,
} from './contract-call.ts';
import { readableBlock } from './finality.ts';
import { KEYS_GAS } from './owner-keys.ts';
import type { ChainReader } from './rpc.ts';
import { agreed, readCommonFinal, type Witnessed } from './witness.ts';

/** An account of the second kind with a guardian; hex is lower-case with 0x. */
export interface GuardedAccount {
  readonly guardian: string;
  readonly commitment: string;
  /** Seconds since 1970; past or 0 while the guardian is not barred. */
  readonly barredUntil: number;
  /** The pending recovery. */
  readonly recovery: { readonly id: number; readonly x: string; readonly y: string; readonly readyAt: number } | null;
}

type Chain = ChainReader<Factories> & { readonly predict: PredictAddress };
type TwoNodes = Witnessed<Factories | 'finalityBlocks'> & Pick<Chain, 'predict'>;

/** As `findGuardedAccount`; undefined for an account that is not ours or has no guardian. Throws 502 `rpc_error`. */
export async function readGuardedAccount(chain: Chain, account: string): Promise<GuardedAccount | undefined> {
  const found = await findGuardedAccount(chain, account);
  return typeof found === 'string' ? undefined : found;
}

/**
 * Reads an account in the state of a block: `not_ours` unless the configured factory, or a former one, created it and
 * its owners have not replaced its code. Any other contract could say anything, megabytes too, and is not called.
 * Throws 502 `rpc_error`.
 */
export async function findGuardedAccount(
  chain: Chain,
  account: string,
  block = 'latest',
): Promise<GuardedAccount | 'not_ours' | 'unguarded'> {
  const { config, rpc } = chain;
  if (!(await isUnchanged(chain, account, block))) return 'not_ours';
  const call = async (data: string) =>
    wordsOf(await findAnswer(rpc, config.chainId, { to: account, data, gas: KEYS_GAS }, block), 5);
  const [guardian, recovery] = await Promise.all([call(GET_GUARDIAN), call(GET_RECOVERY)]);
  if (!guardian || !recovery || guardian[0] === ZERO_WORD) return 'unguarded';
  const [address = '', , commitment = '', , barredUntil = ''] = guardian;
  const [id = '', x = '', y = '', readyAt = ''] = recovery;
  return {
    guardian: `0x${address.slice(24)}`,
    commitment: `0x${commitment}`,
    barredUntil: Number(`0x${barredUntil}`),
    recovery:
      id === ZERO_WORD ? null : { id: Number(`0x${id}`), x: `0x${x}`, y: `0x${y}`, readyAt: Number(`0x${readyAt}`) },
  };
}

/** Whether the key is one of the account's now; its coordinates are 0x-hex of 32 bytes. Throws 502 `rpc_error`. */
export async function isOwnerKey(
  { config, rpc }: ChainReader,
  account: string,
  { x, y }: { readonly x: bigint; readonly y: bigint },
): Promise<boolean> {
  const data = `${IS_KEY}${uint256Word(x)}${uint256Word(y)}`;
  const words = await findWords(rpc, config.chainId, { to: account, data }, 1);
  return words?.[0] === uint256Word(1n);
}

/** By its own code, which names the first key and the factory's implementation, and the slot that owners upgrade by. */
export async function isUnchanged(chain: Chain, account: string, block = 'latest'): Promise<boolean> {
  const { config, predict } = chain;
  const [code, isOther] = await Promise.all([readCode(chain, account, block), isUpgraded(chain, account, block)]);
  const found = keyInCode(code);
  if (found?.kind !== 2 || factoryOf(config, 2) === null || isOther) return false;
  if ((await predict(found.key, 2)).toLowerCase() === account.toLowerCase()) return true;
  return (await formerFactoryOf(chain, account, found)) !== null;
}

/** `isUnchanged` in the newest block, for both nodes: only such an account is called. Throws 502 `rpc_error`. */
export function isUnchangedForBoth(ctx: TwoNodes, account: string): Promise<boolean> {
  return agreed(ctx, 'account', (chain) => isUnchanged({ ...chain, predict: ctx.predict }, account));
}

/**
 * As `findGuardedAccount`, in the newest block that is final for both nodes and of which they have the state; both say
 * the same, also of the commitment. Throws 502 `rpc_error`.
 */
export async function findFinalAccount(ctx: TwoNodes, account: string): ReturnType<typeof findGuardedAccount> {
  const final = Math.max(0, await readCommonFinal(ctx));
  const read = async (chain: ChainReader<Factories>) => {
    const block = toQuantity(Math.max(0, await readableBlock(chain, account, final)));
    return findGuardedAccount({ ...chain, predict: ctx.predict }, account, block);
  };
  return agreed(ctx, 'account', read, (one) => (typeof one === 'string' ? one : one.commitment));
}

/**
 * Whether the owners of an account of the second kind put another implementation under it than the factory's. Throws
 * 502 `rpc_error`.
 */
export async function isUpgraded(
  { config, rpc }: ChainReader<Factories>,
  account: string,
  block = 'latest',
): Promise<boolean> {
  const slot = await rpc.call(config.chainId, 'eth_getStorageAt', [account, IMPLEMENTATION_SLOT, block]);
  const upgradedTo = String(slot).slice(2).padStart(64, '0').toLowerCase();
  if (upgradedTo === ZERO_WORD) return false;
  const factory = factoryOf(config, 2);
  if (!factory) return true;
  const [first] = await readWords(rpc, config.chainId, { to: factory, data: IMPLEMENTATION }, 1);
  return upgradedTo !== first;
}

/** Selectors of `getGuardian()` and `getRecovery()`. */
export const GET_GUARDIAN = '0xa75b87d2';
export const GET_RECOVERY = '0x706f7658';
/** Selectors of `isKey(uint256,uint256)` and the factory's `implementation()`. */
const IS_KEY = '0x47df8b82';
const IMPLEMENTATION = '0x5c60da1b';
/** The slot of ERC-1967. */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
