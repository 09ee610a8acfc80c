/**
 * CREATE2 (EIP-1014) of the proxies that our factories create: code that delegates to an implementation and ends in
 * the account's key and salt. Of the first kind they are ERC-1167 clones with immutable arguments (OpenZeppelin Clones,
 * the bytes of `_cloneCodeWithImmutableArgs`), of the second kind those of `contracts/AccountFactory2.sol`.
 */

import { keccak_256 } from '@noble/hashes/sha3.js';
import * as Address from 'ox/Address';
import { type AccountFactory, PROXY_CODES } from '../../client/known-accounts.ts';
import { fromHex, toHex } from '../base/bytes.ts';

/** 1: one key for good, in the code. 2: keys that its owners add and remove; the first one is in the code. */
export type AccountKind = (typeof ACCOUNT_KINDS)[number];
export const ACCOUNT_KINDS = [1, 2] as const;

/** The inputs of an account's address: its first P-256 key and a salt, each at least 0 and below 2²⁵⁶. */
export interface AccountKey {
  readonly x: bigint;
  readonly y: bigint;
  readonly salt: bigint;
}

/**
 * The address (EIP-55) at which our own factory creates an account, as its `getAddress` answers, even for a key that
 * is not on the curve. Throws `RangeError` for a factory or an implementation that is not an address.
 */
export function computeAddress(of: AccountFactory, key: AccountKey): Address.Address {
  const { creationCode } = writeCreation(of, key);
  writeAddress(PREIMAGE, FACTORY_AT, of.factory);
  writeUint256(preimage, SALT_AT, key.salt);
  PREIMAGE.set(keccak_256(creationCode), CODE_HASH_AT);
  return Address.checksum(`0x${toHex(keccak_256(PREIMAGE).subarray(12))}`);
}

/** The creation code of an account, 0x-hex: its hash is part of the address. Throws as `computeAddress`. */
export function initCodeOf(of: AccountFactory, key: AccountKey): `0x${string}` {
  return `0x${toHex(writeCreation(of, key).creationCode)}`;
}

/** The first bytes of an account's creation code, which return the rest; of the second kind they emit `Upgraded`. */
const RETURN_REST: Readonly<Record<AccountKind, string>> = {
  1: '61008d3d81600a3d39f3',
  2: '60bb8060335f3960365160601c7fbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b5f5fa25ff3',
};

/** Bytes that each call overwrites: it never yields, so a prediction allocates almost nothing. */
interface Template {
  readonly creationCode: Uint8Array;
  readonly view: DataView;
  readonly implementationAt: number;
  readonly argumentsAt: number;
}

const TEMPLATES = { 1: createTemplate(1), 2: createTemplate(2) };

function createTemplate(kind: AccountKind): Template {
  const [before, tail] = PROXY_CODES[kind];
  const head = `${RETURN_REST[kind]}${before}`;
  const creationCode = fromHex(`${head}${'00'.repeat(20)}${tail}${'00'.repeat(96)}`) as Uint8Array<ArrayBuffer>;
  const implementationAt = head.length / 2;
  const argumentsAt = implementationAt + 20 + tail.length / 2;
  return { creationCode, view: new DataView(creationCode.buffer), implementationAt, argumentsAt };
}

function writeCreation({ kind, implementation }: AccountFactory, { x, y, salt }: AccountKey): Template {
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
