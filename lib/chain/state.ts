import { rpcError } from '../base/error.ts';
import { addressWord, quantity, readWords, ZERO_WORD } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** An account as the chain shows it: the nonce as a quantity, DID hash and key as 32 bytes, all 0x-hex. */
export interface AccountState {
  readonly nonce: string;
  readonly did: string;
  readonly isActive: boolean;
  readonly pubKeyX: string;
  readonly pubKeyY: string;
}

type Chain = ChainReader<'accountHelperAddress'>;

/** Asks the account helper; zeros and inactive where there is no code, whatever the helper says of it. Throws 502 `rpc_error`. */
export async function readAccountState({ config, rpc }: Chain, account: string): Promise<AccountState> {
  const { chainId, accountHelperAddress: helper } = config;
  if (!helper) throw rpcError('no account helper is set');
  const view = { to: helper, data: `${GET_ACCOUNT_STATE}${addressWord(account)}` };
  const [code, words] = await Promise.all([
    rpc.call(chainId, 'eth_getCode', [account, 'latest']),
    readWords(rpc, chainId, view, 5).catch((failure: Error) => failure),
  ]);
  if (code === '0x') return NO_ACCOUNT;
  if (words instanceof Error) throw words;
  const [nonce = '', did = '', active = '', x = '', y = ''] = words;
  return {
    nonce: quantity(BigInt(`0x${nonce}`)),
    did: `0x${did}`,
    isActive: BigInt(`0x${active}`) === 1n,
    pubKeyX: `0x${x}`,
    pubKeyY: `0x${y}`,
  };
}

/** Selector of `getAccountState(address)`. */
const GET_ACCOUNT_STATE = '0x9ee2735b';

const ZERO = `0x${ZERO_WORD}`;
const NO_ACCOUNT: AccountState = { nonce: '0x0', did: ZERO, isActive: false, pubKeyX: ZERO, pubKeyY: ZERO };
