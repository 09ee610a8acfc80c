/**
 * CREATE2 (EIP-1014) of an ERC-1167 clone with immutable arguments (OpenZeppelin Clones, the bytes of
 * `_cloneCodeWithImmutableArgs`).
 */

import { keccak_256 } from '@noble/hashes/sha3.js';
import * as Address from 'ox/Address';
import { fromHex, toHex } from '../base/bytes.ts';
import { rpcError } from '../base/error.ts';
import { addressWord, readWords, toQuantity, ZERO_WORD } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** An account factory and the implementation that its accounts clone; both 0x-hex of any case. */
export interface Factory {
  readonly factory: string;
  readonly implementation: string;
}

/** What an account's address depends on: its P-256 key and a salt, each at least 0 and below 2²⁵⁶. */
export interface AccountKey {
  readonly x: bigint;
  readonly y: bigint;
  readonly salt: bigint;
}

/**
 * The address (EIP-55) at which our own `AccountFactory` creates an account, as its `getAddress` answers, even if the
 * key is no point of the curve. Throws `RangeError` for a factory or an implementation that is no address.
 */
export function computeAddress(of: Factory, { x, y, salt }: AccountKey): Address.Address {
  writeAddress(CREATION_CODE, IMPLEMENTATION_AT, of.implementation);
  writeUint256(creationCode, ARGUMENTS_AT, x);
  writeUint256(creationCode, ARGUMENTS_AT + 32, y);
  writeUint256(creationCode, ARGUMENTS_AT + 64, salt);
  writeAddress(PREIMAGE, FACTORY_AT, of.factory);
  writeUint256(preimage, SALT_AT, salt);
  PREIMAGE.set(keccak_256(CREATION_CODE), CODE_HASH_AT);
  return Address.checksum(`0x${toHex(keccak_256(PREIMAGE).subarray(12))}`);
}

/**
 * The clone's creation code: its head returns the rest, which delegates to the implementation and ends in x ‖ y ‖
 * salt.
 */
const HEAD = '61008d3d81600a3d39f3363d3d373d3d3d363d73';
const TAIL = '5af43d82803e903d91602b57fd5bf3';
const IMPLEMENTATION_AT = HEAD.length / 2;
const ARGUMENTS_AT = IMPLEMENTATION_AT + 20 + TAIL.length / 2;
/** Overwritten by every call, which never yields: a prediction allocates almost nothing. */
const CREATION_CODE = fromHex(`${HEAD}${'00'.repeat(20)}${TAIL}${'00'.repeat(96)}`) as Uint8Array<ArrayBuffer>;
const creationCode = new DataView(CREATION_CODE.buffer);

/** 0xff ‖ factory ‖ salt ‖ keccak256(creation code). */
const FACTORY_AT = 1;
const SALT_AT = FACTORY_AT + 20;
const CODE_HASH_AT = SALT_AT + 32;
const PREIMAGE = new Uint8Array(CODE_HASH_AT + 32).fill(0xff, 0, 1);
const preimage = new DataView(PREIMAGE.buffer);

function writeAddress(bytes: Uint8Array, at: number, address: string): void {
  const value = fromHex(address.slice(2));
  if (value?.length !== 20) throw new RangeError('not an address');
  bytes.set(value, at);
}

function writeUint256(call: DataView, at: number, value: bigint): void {
  for (let word = 0; word < 4; word++) call.setBigUint64(at + 8 * word, value >> BigInt(192 - 64 * word));
}

/** An account's on-chain state: the nonce as a quantity, DID hash and key as 32 bytes, all 0x-hex. */
export interface AccountState {
  readonly nonce: string;
  readonly did: string;
  readonly isActive: boolean;
  readonly pubKeyX: string;
  readonly pubKeyY: string;
}

type Chain = ChainReader<'accountHelperAddress'>;

/**
 * Reads the account helper; zeros and inactive where the account has no code, whatever the helper answers. Throws 502
 * `rpc_error`.
 */
export async function readAccountState({ config, rpc }: Chain, account: string): Promise<AccountState> {
  const { chainId, accountHelperAddress: helper } = config;
  if (!helper) throw rpcError('ACCOUNT_HELPER_ADDRESS is not set');
  const call = { to: helper, data: `${GET_ACCOUNT_STATE}${addressWord(account)}` };
  const [code, words] = await Promise.all([
    rpc.call(chainId, 'eth_getCode', [account, 'latest']),
    readWords(rpc, chainId, call, 5).catch((failure: Error) => failure),
  ]);
  if (code === '0x') return NO_ACCOUNT;
  if (words instanceof Error) throw words;
  const [nonce = '', did = '', active = '', x = '', y = ''] = words;
  return {
    nonce: toQuantity(BigInt(`0x${nonce}`)),
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
