/**
 * CREATE2 (EIP-1014) of the proxies that our factories create: code that delegates to an implementation and ends in
 * the account's key and salt. Of the first kind they are ERC-1167 clones with immutable arguments (OpenZeppelin Clones,
 * the bytes of `_cloneCodeWithImmutableArgs`), of the second kind those of `contracts/AccountFactory2.sol`.
 */

import { keccak_256 } from '@noble/hashes/sha3.js';
import * as Address from 'ox/Address';
import { fromHex, toHex } from '../base/bytes.ts';

/** 1: one key for good, in the code. 2: keys that its owners add and remove; the first one is in the code. */
export type AccountKind = (typeof ACCOUNT_KINDS)[number];
export const ACCOUNT_KINDS = [1, 2] as const;

/** An account factory, the kind of its accounts, and the implementation that they begin with; 0x-hex of any case. */
export interface Factory {
  readonly kind: AccountKind;
  readonly factory: string;
  readonly implementation: string;
}

/** What an account's address depends on: its first P-256 key and a salt, each at least 0 and below 2²⁵⁶. */
export interface AccountKey {
  readonly x: bigint;
  readonly y: bigint;
  readonly salt: bigint;
}

/**
 * The address (EIP-55) at which our own factory creates an account, as its `getAddress` answers, even if the key is no
 * point of the curve. Throws `RangeError` for a factory or an implementation that is no address.
 */
export function computeAddress(of: Factory, key: AccountKey): Address.Address {
  const { creationCode } = writeCreation(of, key);
  writeAddress(PREIMAGE, FACTORY_AT, of.factory);
  writeUint256(preimage, SALT_AT, key.salt);
  PREIMAGE.set(keccak_256(creationCode), CODE_HASH_AT);
  return Address.checksum(`0x${toHex(keccak_256(PREIMAGE).subarray(12))}`);
}

/** The creation code of an account, 0x-hex: its hash is part of the address. Throws as `computeAddress`. */
export function initCodeOf(of: Factory, key: AccountKey): `0x${string}` {
  return `0x${toHex(writeCreation(of, key).creationCode)}`;
}

/** A proxy's creation code around its implementation; the three words of its arguments follow. */
interface Proxy {
  readonly head: string;
  readonly tail: string;
}

/**
 * The first bytes return the rest, which delegates to the implementation and ends in x ‖ y ‖ salt. The second kind asks
 * the ERC-1967 slot first, where owners put another implementation.
 */
const PROXIES: Readonly<Record<AccountKind, Proxy>> = {
  1: { head: '61008d3d81600a3d39f3363d3d373d3d3d363d73', tail: '5af43d82803e903d91602b57fd5bf3' },
  2: {
    head:
      '60bb8060095f395ff336600557005b365f5f375f5f365f' +
      '7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc5480604a575073',
    tail: '5b5af43d5f5f3e6057573d5ffd5b3d5ff3',
  },
};

/** Bytes that each call overwrites: it never yields, so a prediction allocates almost nothing. */
interface Template {
  readonly creationCode: Uint8Array;
  readonly view: DataView;
  readonly implementationAt: number;
  readonly argumentsAt: number;
}

const TEMPLATES = { 1: createTemplate(PROXIES[1]), 2: createTemplate(PROXIES[2]) };

function createTemplate({ head, tail }: Proxy): Template {
  const creationCode = fromHex(`${head}${'00'.repeat(20)}${tail}${'00'.repeat(96)}`) as Uint8Array<ArrayBuffer>;
  const implementationAt = head.length / 2;
  const argumentsAt = implementationAt + 20 + tail.length / 2;
  return { creationCode, view: new DataView(creationCode.buffer), implementationAt, argumentsAt };
}

function writeCreation({ kind, implementation }: Factory, { x, y, salt }: AccountKey): Template {
  const template = TEMPLATES[kind];
  const { creationCode, view, implementationAt, argumentsAt } = template;
  writeAddress(creationCode, implementationAt, implementation);
  writeUint256(view, argumentsAt, x);
  writeUint256(view, argumentsAt + 32, y);
  writeUint256(view, argumentsAt + 64, salt);
  return template;
}

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
