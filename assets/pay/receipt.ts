// The receipt of a payment: how much, to whom, for what.

import { checksum } from '../../client/checksum.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import type { Enclave } from '../../client/wallet/enclave.ts';
import { amountText } from '../wallet/amount.ts';
import type { Token } from '../wallet/api.ts';
import { word } from '../words/words.ts';
import type { Payment } from './request.ts';

/** A payment's receipt, without where it went through. It is stored with the payment. */
export interface Receipt {
  /** With its unit: `1.25 USDC`. */
  readonly amount: string;
  /** With its checksum. */
  readonly to: Hex;
  readonly label: string | undefined;
  readonly id: string;
}

/** The receipt that a payment will have. */
export function receiptOf({ amount, to, label, id }: Payment, token: Token, enclave: Hashes): Receipt {
  return { amount: sumOf(amount, token), to: addressOf(to, enclave), label, id };
}

/** The hash that checksums of addresses need. */
export type Hashes = Pick<Enclave, 'keccak256'>;

/** An address as people read it. */
export function addressOf(address: Hex, { keccak256 }: Hashes): Hex {
  return checksum(address.slice(2), keccak256);
}

/** The unit of amounts of a token. The name that an unlisted token gives itself is not used. */
export function unitOf({ symbol, listed }: Token): string {
  return listed ? symbol : word('units.unknown');
}

/** An amount with its unit. */
export function sumOf(amount: bigint, token: Token): string {
  return `${amountText(amount, token.decimals)} ${unitOf(token)}`;
}
