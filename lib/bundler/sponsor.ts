import { VaultError } from '../base/error.ts';
import { isObject } from '../base/json.ts';
import { toQuantity } from '../chain/contract-call.ts';
import type { TransactionFees } from '../chain/fees.ts';
import { isWatchedNonce } from '../payments/record.ts';
import type { Platform } from '../platform.ts';
import {
  type Bounds,
  type Charge,
  type ChargeRefusal,
  chargeOf,
  gasBounds,
  isRaise,
  largerOf,
  missingIn,
  priceBounds,
  refusalOfCharge,
  worstCaseOf,
} from './charge.ts';
import type { Bundler, BundlerOutcome } from './client.ts';
import { estimateGas, type Fees, STUB_METHOD } from './estimate.ts';
import type { BundlerCall } from './methods.ts';
import { readPrice } from './price.ts';
import { checkDayHasRoom, readStanding, reserve, type Standing } from './reserve.ts';
import { readSponsoredCalls } from './sponsored-calls.ts';
import { isOwnSender, type SenderReader } from './sponsorship.ts';

type Ctx = Pick<Platform, 'config' | 'rpc' | 'clock' | 'db' | 'metrics' | 'log'> &
  Pick<SenderReader, 'predict'> & { readonly bundler: Bundler };

/** A call of a paymaster's method, and the operation in it. */
export type SponsorCall = BundlerCall & Required<Pick<BundlerCall, 'userOperation'>>;

/**
 * Asks the sponsor for an account of the configured factory. Where the sponsor signs, the most that it can be charged
 * is judged and reserved before the caller gets the answer. Throws `sponsorship_refused`, `sponsor_limit_reached`,
 * `rpc_error`, and as `Bundler.call`.
 */
export async function sponsor(ctx: Ctx, call: SponsorCall, client: string): Promise<BundlerOutcome> {
  const { method, params, userOperation, timeoutMs } = call;
  const ask = () => ctx.bundler.call(method, params, timeoutMs);
  if (!(await isOwnSender(ctx, userOperation))) throw refused('the sender is not an account of the configured factory');
  const calls = await readSponsoredCalls(ctx, userOperation);
  if (typeof calls === 'string') throw refused(calls);
  const stub = method === STUB_METHOD ? await ask() : undefined;
  // Estimates are made with it, and no paymaster pays for it.
  if (stub && !isFinal(stub)) return withoutFinal(stub);
  const key = { sender: userOperation.sender.toLowerCase(), nonce: toQuantity(BigInt(userOperation.nonce)) };
  const standing = await readStanding(ctx, key, client);
  if (standing.reserved?.isSettled) throw refused('not sponsored: this nonce is spent');
  if (String(userOperation['signature'] ?? '').length > 2 + 2 * SIGNATURE_BYTES_MAX)
    throw refused(`not sponsored: its signature has more than ${SIGNATURE_BYTES_MAX} bytes`, GAS);
  if (calls.isEmpty && !standing.reserved && !(await isWatchedNonce(ctx, key.sender, key.nonce)))
    throw refused('not sponsored: it does nothing, and no payment of this nonce is watched');
  const price = await readPrice(ctx);
  if (!price) throw refused('not sponsored: the chain asks for more than anybody could pay', 'price');
  const judging: Judging = { ...call, standing, price, callGas: calls.gas };
  return askWithin(ctx, judging, stub);
}

interface Judging extends SponsorCall {
  readonly standing: Standing;
  readonly price: TransactionFees;
  readonly callGas: bigint;
}

/** Judges the draft, asks unless `answered` is given, judges the answer, and reserves its worst case. */
async function askWithin(ctx: Ctx, judging: Judging, answered?: BundlerOutcome): Promise<BundlerOutcome> {
  const { method, params, timeoutMs, userOperation, standing, price, callGas } = judging;
  const ofPrice = priceBounds(price, standing.reserved);
  const draft = chargeOf(userOperation);
  check(draft, { ...ofPrice, ...gasBounds(callGas) });
  checkFee(ctx, draft);
  await checkDayHasRoom(ctx, standing, draft);
  const offered = feesOf(draft) ?? {
    maxFeePerGas: toQuantity(price.maxFee),
    maxPriorityFeePerGas: toQuantity(price.tip),
  };
  let estimate = await estimateGas(ctx, userOperation, offered);
  if ('error' in estimate) return estimate;
  // Here the sponsor signs the draft as it is; the other method fills it in.
  if (method !== FILLING_METHOD) check(draft, gasBounds(callGas, estimate));
  const outcome = answered ?? (await ctx.bundler.call(method, params, timeoutMs));
  if (!('result' in outcome)) return outcome;
  const charge = chargeOf(userOperation, outcome.result);
  if (isPacked(outcome.result)) throw refused('not sponsored: the sponsor answered paymasterAndData', GAS);
  const missing = missingIn(charge);
  if (missing !== undefined) throw refused(`not sponsored: it does not say its ${missing}`, GAS);
  const fees = feesOf(charge);
  // Gas before verification pays for data of another chain too, in gas of this price.
  if (fees && !isSame(fees, offered)) estimate = await estimateGas(ctx, userOperation, fees);
  if ('error' in estimate) return estimate;
  check(charge, { ...ofPrice, ...gasBounds(callGas, estimate) });
  checkFee(ctx, charge);
  // The sponsor's signature may not cover the members of its answer that are not the paymaster's.
  await keep(ctx, judging, method === FILLING_METHOD ? charge : largerOf(draft, charge));
  return outcome;
}

function checkFee({ config: { sponsorMaxFee } }: Ctx, charge: Charge): void {
  const worst = worstCaseOf(charge);
  if (worst <= sponsorMaxFee) return;
  const words = `not sponsored: it may cost ${worst} wei, and the operator’s SPONSOR_MAX_FEE is ${sponsorMaxFee}`;
  throw refused(`${words}: ask again when gas is cheaper`, 'price');
}

/** Reserves the worst case. Throws 429 `sponsor_limit_reached`. */
async function keep(ctx: Ctx, { standing, price }: Judging, charge: Charge): Promise<void> {
  const failure = await reserve(ctx, standing, charge, isRaise(charge, price, standing.reserved));
  if (failure === undefined) return;
  throw failure ?? refused('not sponsored: this nonce was sponsored at another price meanwhile', 'price');
}

function check(charge: Charge, bounds: Bounds): void {
  const refusal = refusalOfCharge(charge, bounds);
  if (refusal) throw refused(refusal.reason, refusal.limit);
}

function feesOf({ maxFeePerGas, maxPriorityFeePerGas }: Charge): Fees | undefined {
  if (maxFeePerGas === undefined || maxPriorityFeePerGas === undefined) return undefined;
  return { maxFeePerGas: toQuantity(maxFeePerGas), maxPriorityFeePerGas: toQuantity(maxPriorityFeePerGas) };
}

function isSame(one: Fees, other: Fees): boolean {
  return one.maxFeePerGas === other.maxFeePerGas && one.maxPriorityFeePerGas === other.maxPriorityFeePerGas;
}

/** Estimates count its bytes, and the one that is sent may be shorter. A passkey's has 500 to 800. */
const SIGNATURE_BYTES_MAX = 1_024;
/** It answers the gas as well as the paymaster's data. */
const FILLING_METHOD = 'pm_sponsorUserOperation';

/**
 * ERC-7677: a stub with `isFinal` equals the answer of `pm_getPaymasterData`. Any value but false or null counts, since
 * the stub may hold a signature.
 */
function isFinal(outcome: BundlerOutcome): boolean {
  return 'result' in outcome && isObject(outcome.result) && (outcome.result['isFinal'] ?? false) !== false;
}

/** The form of EntryPoint 0.6: the gas that it would pack for a later EntryPoint is not judged. */
function isPacked(answer: unknown): boolean {
  return isObject(answer) && (answer['paymasterAndData'] ?? null) !== null && (answer['paymaster'] ?? null) === null;
}

function withoutFinal(outcome: BundlerOutcome): BundlerOutcome {
  if (!('result' in outcome) || !isObject(outcome.result)) return outcome;
  const { isFinal: _, ...result } = outcome.result;
  return { result };
}

const GAS: ChargeRefusal['limit'] = 'gas';

/** The refusal; `limit` is the bound that it is above. */
function refused(reason: string, limit?: ChargeRefusal['limit']): VaultError {
  const bound = limit === undefined ? {} : { limit };
  return new VaultError('sponsorship_refused', { extra: { kind: 'paymaster_rejected', ...bound, reason } });
}
