// The most that an operation can cost its sponsor: five limits of gas at one price. The bundler receives it.
import { isObject } from '../base/json.ts';
import type { TransactionFees } from '../chain/fees.ts';
import { quantityOf, type UserOperation } from './user-operation.ts';

/** An operation's gas, in units, and its prices, in wei per unit; undefined for a member that it lacks. */
export type Charge = Readonly<Record<(typeof MEMBERS)[number], bigint | undefined>>;

const GAS_LIMITS = [
  'callGasLimit',
  'verificationGasLimit',
  'preVerificationGas',
  'paymasterVerificationGasLimit',
  'paymasterPostOpGasLimit',
] as const;
const PRICES = ['maxFeePerGas', 'maxPriorityFeePerGas'] as const;
const MEMBERS = [...GAS_LIMITS, ...PRICES] as const;

/** Reads an operation, with those members that the sponsor's answer replaces. */
export function chargeOf(operation: UserOperation, given: unknown = {}): Charge {
  const replaced = isObject(given) ? given : {};
  return Object.fromEntries(MEMBERS.map((name) => [name, quantityOf(replaced[name] ?? operation[name])])) as Charge;
}

/** The most that it costs, in wei; a missing member counts as zero (`missingIn`). */
export function worstCaseOf(charge: Charge): bigint {
  return GAS_LIMITS.reduce((sum, name) => sum + (charge[name] ?? 0n), 0n) * (charge.maxFeePerGas ?? 0n);
}

/** The larger of each member, which covers either of two operations of one nonce. */
export function largerOf(one: Charge, other: Charge): Charge {
  const larger = (a = 0n, b = 0n) => (a > b ? a : b);
  return Object.fromEntries(MEMBERS.map((name) => [name, larger(one[name], other[name])])) as Charge;
}

/** The first missing member, without which the cost is unknown; undefined where the charge is complete. */
export function missingIn(charge: Charge): string | undefined {
  return MEMBERS.find((name) => charge[name] === undefined);
}

/** The upper bound of each member; a member that is absent here is not judged. */
export type Bounds = Partial<Readonly<Record<(typeof MEMBERS)[number], bigint>>>;

/** Why it is not sponsored: which bound, in a word and in a sentence. */
export interface ChargeRefusal {
  readonly limit: 'price' | 'gas';
  readonly reason: string;
}

/** The first member above its bound; undefined if there is none. */
export function refusalOfCharge(charge: Charge, bounds: Bounds): ChargeRefusal | undefined {
  for (const name of MEMBERS) {
    const [said, most] = [charge[name], bounds[name]];
    if (said !== undefined && most !== undefined && said > most)
      return { limit: isPrice(name) ? 'price' : 'gas', reason: `not sponsored: ${name} is above ${most}` };
  }
  return undefined;
}

function isPrice(name: string): boolean {
  return PRICES.some((price) => price === name);
}

/** The price at which a nonce was sponsored before, and how often it was raised above the market's bound. */
export interface LastPrice extends TransactionFees {
  readonly raises: number;
}

/** How often a sponsored nonce may be raised by a quarter where the market no longer has that price. */
export const RAISES_MAX = 3;

/**
 * The most that it may offer: twice the price of the market, or for a nonce that was sponsored before that price, and a
 * quarter more `RAISES_MAX` times. Bundlers take a second operation of a nonce for a tenth more.
 */
export function priceBounds({ maxFee, tip }: TransactionFees, last: LastPrice | undefined): Bounds {
  const most = (now: bigint, before = 0n) => {
    const raised = last && last.raises < RAISES_MAX ? (before * 5n + 3n) / 4n : before;
    return 2n * now > raised ? 2n * now : raised;
  };
  return { maxFeePerGas: most(maxFee, last?.maxFee), maxPriorityFeePerGas: most(tip, last?.tip) };
}

/** Whether it takes one of the raises: a price above the market's bound and the last one. */
export function isRaise(charge: Charge, { maxFee, tip }: TransactionFees, last: LastPrice | undefined): boolean {
  const isAbove = (said = 0n, now: bigint, before = 0n) => said > 2n * now && said > before;
  return isAbove(charge.maxFeePerGas, maxFee, last?.maxFee) || isAbove(charge.maxPriorityFeePerGas, tip, last?.tip);
}

/** A bundler's estimate of a draft's gas, with the gas of the sponsor's stub. */
export interface GasEstimate {
  readonly preVerificationGas: bigint;
  readonly callGasLimit: bigint;
  readonly stub: Charge;
}

const VERIFICATION_GAS_MAX = 2_000_000n;
/** The most gas of a paymaster that is sponsored where the stub names none. */
const PAYMASTER_VERIFICATION_GAS = 150_000n;
const PAYMASTER_POST_OP_GAS = 100_000n;
/** The usual excess over the estimate: an EntryPoint charges a tenth of the call gas that is left over. */
const CALL_GAS_SLACK = 300_000n;

/** The bounds of gas: by the operation's calls and, once there is one, by the estimate. */
export function gasBounds(callGas: bigint, estimate?: GasEstimate): Bounds {
  const verificationGasLimit = VERIFICATION_GAS_MAX;
  if (!estimate) return { callGasLimit: callGas, verificationGasLimit };
  const { preVerificationGas, callGasLimit, stub } = estimate;
  const usual = 2n * callGasLimit + CALL_GAS_SLACK;
  return {
    callGasLimit: usual < callGas ? usual : callGas,
    verificationGasLimit,
    preVerificationGas: aQuarterMore(preVerificationGas),
    paymasterVerificationGasLimit: aQuarterMore(stub.paymasterVerificationGasLimit) ?? PAYMASTER_VERIFICATION_GAS,
    paymasterPostOpGasLimit: aQuarterMore(stub.paymasterPostOpGasLimit) ?? PAYMASTER_POST_OP_GAS,
  };
}

function aQuarterMore(gas: bigint): bigint;
function aQuarterMore(gas: bigint | undefined): bigint | undefined;
function aQuarterMore(gas: bigint | undefined): bigint | undefined {
  return gas === undefined ? undefined : (gas * 5n + 3n) / 4n;
}
