import { bytesOf, join, toHex } from './bytes.ts';
import { keccak256 } from './keccak.ts';
import { type AccountFactory, proxyOf, UPGRADED_EVENT } from './known-accounts.ts';

/** What the creation code of a kind has before the code that it returns; `contracts/`. */
const CREATION = {
  // OpenZeppelin's `Clones` of 45 bytes and three words.
  1: '61008d3d81600a3d39f3',
  2: `60bb8060335f3960365160601c7f${UPGRADED_EVENT.slice(2)}5f5fa25ff3`,
} as const;

/** Where a factory creates the account of a key, by x ‖ y ‖ salt in 192 digits (EIP-1014); 40 digits in lower case. */
export function predictedAccount(by: AccountFactory, key: string): string {
  const code = keccak256(bytesOf(`0x${CREATION[by.kind]}${proxyOf(by)}${key}`));
  const salt = bytesOf(`0x${key.slice(-64)}`);
  return toHex(keccak256(join([Uint8Array.of(0xff), bytesOf(by.factory), salt, code])).subarray(12));
}
