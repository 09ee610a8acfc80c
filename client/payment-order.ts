import { demandMembers, isAddress, type Member, shown, TERMS } from './order-members.ts';
import { isHash } from './payment-node.ts';
import { isOrigin, type OrderName } from './payment-nonce.ts';

/** An order, as the shop made it. */
export interface PaymentOrder extends OrderName {
  /** The payee. */
  readonly to: string;
  /** `native`, or the token's address. */
  readonly token: string;
  /** In the token's smallest unit, a decimal string. */
  readonly amount: string | bigint;
  readonly chainId: number;
}

/** The receipt that the customer's browser hands in. It holds hints only: nothing in it is believed. */
export interface PaymentReceipt {
  readonly by?: undefined;
  readonly userOpHash: string;
  /** Absent of a payment that was `pending` when the page was closed: then the newest blocks are searched. */
  readonly txHash?: string | undefined;
  readonly account?: string | undefined;
  readonly chainId?: number | undefined;
  readonly token?: string | undefined;
}

/** The hints to a transfer by authorization (EIP-3009) of the order's token; anybody may have sent it to the chain. */
export interface AuthorizationReceipt {
  readonly by: 'authorization';
  /** The account whose authorization it is. */
  readonly account: string;
  /** If absent, the newest blocks are searched. */
  readonly txHash?: string | undefined;
  readonly chainId?: number | undefined;
}

/** An order to compare with; hex in lower case. */
export interface Order {
  readonly to: string;
  readonly token: string;
  readonly amount: bigint;
}

const MEMBERS = {
  origin: [isOrigin, 'the origin of your page, such as "https://shop.example"'],
  frame: [(value) => value === undefined || isOrigin(value), 'the origin of the frame that asked, or nothing'],
  ...TERMS,
  chainId: [Number.isSafeInteger, "the chain's number, such as 84532"],
} as const satisfies Record<keyof PaymentOrder, Member>;

/** Throws a `TypeError` that names the first member that is missing or wrong. */
export function readOrder(order: PaymentOrder): Order {
  demandMembers(order, MEMBERS);
  const { to, token, amount } = order;
  return { to: to.toLowerCase(), token: token.toLowerCase(), amount: BigInt(amount) };
}

/** Throws a `TypeError` for anything but a time in seconds: milliseconds, or the number of a block. */
export function demandSince(since: unknown): void {
  const isTime = Number.isSafeInteger(since) && Number(since) >= 1e9 && Number(since) < 1e11;
  if (since !== undefined && !isTime)
    throw new TypeError(`since is ${shown(since)}; expected when the order was made, in seconds since 1970`);
}

/** The claims of a receipt, to be verified; hex in lower case. */
export interface OperationClaim {
  readonly by?: undefined;
  readonly userOpHash: string;
  readonly txHash: string | undefined;
  readonly account: string | undefined;
}

/** Those of a transfer by authorization. */
export interface AuthorizationClaim extends Omit<OperationClaim, 'by' | 'userOpHash'> {
  readonly by: 'authorization';
  readonly account: string;
}

/** Undefined for anything but a receipt: a stranger wrote it, so any value may be of any type. */
export function readClaim(receipt: unknown): OperationClaim | AuthorizationClaim | undefined {
  const { by, userOpHash, txHash, account } = (receipt ?? {}) as Readonly<Record<string, unknown>>;
  if (!isAbsentOr(isHash, txHash) || !isAbsentOr(isAddress, account)) return undefined;
  const where = { txHash: txHash?.toLowerCase(), account: account?.toLowerCase() };
  if (by === 'authorization') return where.account === undefined ? undefined : { by, ...where, account: where.account };
  return isHash(userOpHash) ? { userOpHash: userOpHash.toLowerCase(), ...where } : undefined;
}

function isAbsentOr<T>(is: (value: unknown) => value is T, value: unknown): value is T | undefined {
  return value === undefined || is(value);
}
