import { paymentName } from '../../client/payment-nonce.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import type { Asker } from '../wallet/asker.ts';
import { type Payer, readPayer } from '../wallet/payer.ts';
import { printable } from '../wallet/printable.ts';
import { addressIn, chainIn, unitsIn } from '../wallet/terms.ts';
import { ID_CHARS_MAX, REQUEST_MS } from './constants.ts';

/** The shop's own total. It is only shown. */
export interface Total {
  readonly label: string;
  readonly currency: string;
  readonly value: string;
}

/** A request as received, not validated yet. */
export interface Asked {
  readonly asker: Asker;
  readonly id: unknown;
  /** One for each entry of the payment method. Several must be equal. */
  readonly data: readonly unknown[];
  readonly total: unknown;
  /** Milliseconds since the Unix epoch, by this device's clock. */
  readonly expiresAt: number;
}

/** A validated payment: amount in the token's smallest unit, addresses in lower case. */
export interface Payment {
  readonly asker: Asker;
  readonly id: string;
  readonly to: Hex;
  readonly amount: bigint;
  readonly token: Hex | 'native';
  readonly chainId: number;
  readonly label: string | undefined;
  readonly total: Total | undefined;
  readonly payer: Payer | undefined;
  readonly expiresAt: number;
}

/** Why a request cannot be paid. */
export type RequestFault =
  | 'no_id'
  | 'no_data'
  | 'several_data'
  | 'bad_to'
  | 'bad_checksum'
  | 'bad_amount'
  | 'bad_token'
  | 'bad_chain'
  | 'other_chain'
  | 'bad_label'
  | 'bad_expiry'
  | 'expired';

/** A request that is refused before the person sees it. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly fault: RequestFault;

  constructor(fault: RequestFault) {
    super(fault);
    this.fault = fault;
  }
}

interface Judge {
  readonly chainId: number;
  readonly now: number;
  readonly keccak256: (bytes: Uint8Array) => Uint8Array;
}

/**
 * Validates a request member by member and ignores unknown members. One that is over is read too: it may have been
 * signed before. Throws `RequestError`.
 */
export function readPayment({ asker, id, data, total, expiresAt }: Asked, judge: Judge): Payment {
  const fields = readData(data);
  if (typeof id !== 'string' || id === '' || id.length > ID_CHARS_MAX) throw new RequestError('no_id');
  const until = Math.min(expiresAt, judge.now + REQUEST_MS, readExpiry(fields['expires']));
  const chainId = readChain(fields['chainId']);
  if (chainId !== judge.chainId) throw new RequestError('other_chain');
  const token = fields['token'] === 'native' ? 'native' : readAddress(fields['token'], 'bad_token', judge);
  const to = readAddress(fields['to'], 'bad_to', judge);
  // Tokens sent to their own contract, and ether to the zero address, are lost.
  if (to === token || BigInt(to) === 0n) throw new RequestError('bad_to');
  const amount = readUnits(fields['amount']);
  const label = readLabel(fields['label']);
  const shown = { label, total: readTotal(total), payer: readPayer(fields['payer']) };
  return { asker, id, to, amount, token, chainId, ...shown, expiresAt: until };
}

/** The terms that two payments with the same id must share to be one payment. */
export function termsOf({ to, amount, token, chainId }: Payment): string {
  return `${chainId} ${token} ${amount} ${to}`;
}

/**
 * The name of a payment: the shop's origin, its frame and its id. It is the same by worker, popup and link, so that a
 * payment is made once over all of them. A link can claim any origin, but other terms under a known name are refused.
 */
export function nameOf({ asker, id }: Pick<Payment, 'asker' | 'id'>): string {
  return paymentName({ ...asker, id });
}

function readData(data: readonly unknown[]): Readonly<Record<string, unknown>> {
  const [first, ...others] = data;
  if (typeof first !== 'object' || first === null || Array.isArray(first)) throw new RequestError('no_data');
  // A single entry is not written out: a popup's opener may send values that JSON cannot hold.
  if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) throw new RequestError('several_data');
  return first as Readonly<Record<string, unknown>>;
}

function readExpiry(value: unknown): number {
  if (value === undefined) return Infinity;
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) throw new RequestError('bad_expiry');
  return at;
}

function readChain(value: unknown): number {
  const chainId = chainIn(value);
  if (chainId === undefined) throw new RequestError('bad_chain');
  return chainId;
}

function readAddress(value: unknown, fault: 'bad_to' | 'bad_token', { keccak256 }: Judge): Hex {
  const address = addressIn(value, keccak256);
  if (address === undefined || address === 'misspelt') throw new RequestError(address ? 'bad_checksum' : fault);
  return address;
}

function readUnits(value: unknown): bigint {
  const amount = unitsIn(value);
  if (amount === undefined) throw new RequestError('bad_amount');
  return amount;
}

function readLabel(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new RequestError('bad_label');
  return printable(value) || undefined;
}

/** Leaves out an invalid total, because it is only shown. */
function readTotal(value: unknown): Total | undefined {
  const record = (value ?? {}) as { readonly label?: unknown; readonly amount?: unknown; readonly currency?: unknown };
  const amount = (record.amount ?? value ?? {}) as { readonly currency?: unknown; readonly value?: unknown };
  const { currency, value: sum } = amount;
  // Browsers demand as much; the opener of a popup and the maker of a link could write anything, into a sentence of
  // ours.
  if (typeof currency !== 'string' || !/^[A-Za-z]{2,16}$/.test(currency)) return undefined;
  if (typeof sum !== 'string' || !/^-?\d{1,40}(?:\.\d{1,40})?$/.test(sum)) return undefined;
  const label = typeof record.label === 'string' ? printable(record.label) : '';
  return { label, currency, value: sum };
}
