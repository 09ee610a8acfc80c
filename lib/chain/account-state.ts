import * as Address from 'ox/Address';
import { rpcError } from '../base/error.ts';
import type { AccountKind } from './account.ts';
import type { PredictAddress } from './account-address.ts';
import { type Factories, factoryOf, formerFactoryOf } from './account-factory.ts';
import { keyInCode } from './account-key.ts';
import { type AccountSelfReport, readAccountSelfReport } from './account-self-report.ts';
import { addressWord, readWords, toQuantity, ZERO_WORD } from './contract-call.ts';
import { type ChainReader, rpcErrorOf } from './rpc.ts';

/** An account's on-chain state: the nonce as a quantity, DID hash and key as 32 bytes, all 0x-hex. */
export interface AccountState extends AccountSelfReport {
  readonly nonce: string;
  readonly did: string;
  readonly isActive: boolean;
  readonly pubKeyX: string;
  readonly pubKeyY: string;
  /** By its code; 1 for any contract that has not the second kind's, null without code. */
  readonly kind: AccountKind | null;
  /**
   * The configured factory that the account is of. Null for any other contract, whose answers are only its own claims.
   */
  readonly factory: Address.Address | null;
}

interface Chain extends ChainReader<'accountHelperAddress' | Factories> {
  readonly predict: PredictAddress;
}

/**
 * Reads the account helper and, for the second kind, the state that only that kind has. All is zero and inactive where
 * the account has no code, whatever the helper answers. Throws 502 `rpc_error`.
 */
export async function readAccountState(chain: Chain, account: string): Promise<AccountState> {
  const { config, rpc } = chain;
  const { chainId, accountHelperAddress: helper } = config;
  if (!helper) throw rpcError('ACCOUNT_HELPER_ADDRESS is not set');
  const call = { to: helper, data: `${GET_ACCOUNT_STATE}${addressWord(account)}` };
  const later = (failure: Error) => failure;
  const [code, words, ownWord] = await Promise.all([
    rpc.call(chainId, 'eth_getCode', [account, 'latest']),
    readWords(rpc, chainId, call, 5).catch(later),
    readAccountSelfReport(chain, account).catch(later),
  ]);
  if (code === '0x') return NO_ACCOUNT;
  if (words instanceof Error) throw words;
  const found = keyInCode(String(code));
  const isSecond = found?.kind === 2;
  if (isSecond && ownWord instanceof Error) throw ownWord;
  const [nonce = '', did = '', active = '', x = '', y = ''] = words;
  return {
    nonce: toQuantity(BigInt(`0x${nonce}`)),
    did: `0x${did}`,
    isActive: BigInt(`0x${active}`) === 1n,
    pubKeyX: `0x${x}`,
    pubKeyY: `0x${y}`,
    kind: found?.kind ?? 1,
    factory: await factoryBehind(chain, account, found ?? guess(x, y)),
    ...(isSecond && !(ownWord instanceof Error) ? ownWord : SILENT),
  };
}

/** For a factory whose proxies have no arguments, only the default salt can be tried. */
function guess(x: string, y: string): ReturnType<typeof keyInCode> {
  const key = { x: BigInt(`0x${x}`), y: BigInt(`0x${y}`), salt: 0n };
  return key.x === 0n ? undefined : { key, kind: 1 };
}

async function factoryBehind(
  chain: Chain,
  account: string,
  found: ReturnType<typeof keyInCode>,
): Promise<Address.Address | null> {
  const { config, predict } = chain;
  const factory = found ? factoryOf(config, found.kind) : null;
  if (!found || !factory) return null;
  const predicted = await predict(found.key, found.kind).catch((failure) => {
    // No factory answers at the configured address.
    if (rpcErrorOf(failure)) return undefined;
    throw failure;
  });
  if (predicted?.toLowerCase() === account.toLowerCase()) return Address.checksum(factory);
  return formerFactoryOf(chain, account, found);
}

/** Selector of `getAccountState(address)`. */
const GET_ACCOUNT_STATE = '0x9ee2735b';

const ZERO = `0x${ZERO_WORD}`;
const SILENT: AccountSelfReport = { keys: null, guardian: null, recovery: null };
const NO_ACCOUNT: AccountState = {
  nonce: '0x0',
  did: ZERO,
  isActive: false,
  pubKeyX: ZERO,
  pubKeyY: ZERO,
  kind: null,
  factory: null,
  ...SILENT,
};
