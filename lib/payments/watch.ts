import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { readTimedBlock } from '../chain/blocks.ts';
import { FRESH_BLOCKS } from '../chain/entry-point.ts';
import { agreed } from '../chain/witness.ts';
import { type ChainEnds, firstBlockOf, type PaymentOutcome, readOutcomeAt } from './outcome.ts';
import {
  dropPayment,
  type OpenPayment,
  PAYMENT_PAUSE_MAX_MS,
  type PaymentLook,
  putOff,
  selectDuePayments,
  settlePayment,
  toOpenPayment,
  WATCH_MS,
} from './store.ts';
import { createWatch, type WatchContext } from './watching.ts';

/** The longest pause after a look that the chain's node did not answer. */
const RETRY_MAX_MS = MINUTE_MS;
/** The pauses between two looks at a payment; of one that was seen in a block, which costs no request. */
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 5 * MINUTE_MS;
const SEEN_MS = 10_000;
/** After so many looks the pause is the longest. */
const OFTEN = 8;
/**
 * A node that can show late whether ether moved does so within so many looks at a final block; for a contract of
 * unknown code none can.
 */
const UNTOLD_LOOKS_MAX = 24;

/**
 * A background task: looks at each watched payment until a final block shows its outcome, and settles those that moved
 * their money.
 */
export function createPaymentWatch(): (ctx: WatchContext) => Promise<boolean> {
  return createWatch({
    name: 'payments',
    retryMaxMs: RETRY_MAX_MS,
    select({ config, clock }, limit) {
      const entryPoint = String(config.entryPointAddress).toLowerCase();
      return selectDuePayments({ chainId: config.chainId, entryPoint }, clock.now(), limit);
    },
    read: toOpenPayment,
    look,
  });
}

async function look(ctx: WatchContext, payment: OpenPayment, ends: ChainEnds): Promise<void> {
  const { clock, db } = ctx;
  const since = payment.sinceBlock ?? firstBlockOf(payment.createdAt, ends, clock.now());
  // One that was seen in a block is read again when that is final.
  if (payment.block !== null && payment.block > (ends.final?.number ?? -1))
    return putOffLook(ctx, payment, { sinceBlock: since }, SEEN_MS);
  const outcome = await ask(ctx, payment, since, ends).catch(async (failure) => {
    const inVain = payment.block === null ? 1 : 0;
    if (failure instanceof VaultError)
      await putOffLook(ctx, payment, { sinceBlock: since, checks: payment.checks + inVain });
    throw failure;
  });
  const { operation, next } = outcome;
  const now = clock.now();
  const untold = operation?.block === payment.block ? payment.checks : 0;
  const verdict = judge(payment, outcome, { now, untold });
  if (verdict === 'open' || verdict === 'untold') {
    // Blocks that a search left out are searched again from the start, less and less often.
    const isThrough = outcome.spentFinal && !operation && next >= ends.head.number - FRESH_BLOCKS;
    const searched = { sinceBlock: since, nextBlock: isThrough ? since : next, block: operation?.block ?? null };
    const checks = operation ? untold + (verdict === 'untold' ? 1 : 0) : payment.checks + 1;
    const pauseMs = pauseOf(payment, { verdict, outcome, isThrough, now });
    return putOffLook(ctx, payment, { ...searched, checks }, pauseMs);
  }
  if (verdict === 'settled' && operation && (await isRecent(ctx, payment, operation.block))) {
    const [settled] = await db.write(...settlePayment(payment, operation, now));
    if (settled?.rowsAffected === 1) report(ctx, payment, verdict);
    return;
  }
  const [dropped] = await db.write(dropPayment(payment));
  if (dropped?.rowsAffected === 1) report(ctx, payment, verdict === 'settled' ? 'lost' : verdict);
}

interface Found {
  readonly verdict: Verdict;
  readonly outcome: PaymentOutcome;
  readonly isThrough: boolean;
  readonly now: number;
}

/** A payment is in a block within seconds, or it may take its time. */
function pauseOf({ createdAt, checks }: OpenPayment, { verdict, outcome, isThrough, now }: Found): number {
  if (verdict === 'untold') return PAYMENT_PAUSE_MAX_MS;
  if (outcome.operation) return SEEN_MS;
  if (isThrough && checks > OFTEN) return PAYMENT_PAUSE_MAX_MS;
  return Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, (now - createdAt) / 4));
}

function ask(ctx: WatchContext, payment: OpenPayment, since: number, ends: ChainEnds): Promise<PaymentOutcome> {
  const { account, nonce, to, token, amount, userOpHash, nextBlock } = payment;
  const movement = { to, token, amount: BigInt(amount) };
  const query = { account, nonce: BigInt(nonce), movement, since: nextBlock ?? since, hint: userOpHash };
  return readOutcomeAt(ctx, query, ends);
}

/**
 * `settled` and `spent` (by an operation that did not pay) come from a final block. `ended`: the nonce is unspent, and
 * the signed operation has ended by the time of a final block, or was watched for long enough. `lost`: no search finds
 * the operation that spent the nonce. `untold`: a node did not show whether ether moved.
 */
function judge(
  { validUntil, createdAt, token }: OpenPayment,
  outcome: PaymentOutcome,
  { now, untold }: { readonly now: number; readonly untold: number },
): Verdict {
  const { operation, final, spent } = outcome;
  const age = now - createdAt;
  const isOver = age > 2 * WATCH_MS;
  if (operation?.final && operation.moved !== null) return operation.moved ? 'settled' : 'spent';
  if (operation?.final) return token !== 'native' || untold > UNTOLD_LOOKS_MAX || isOver ? 'spent' : 'untold';
  if (final && !spent && (final.time > validUntil || age > WATCH_MS)) return 'ended';
  return isOver ? 'lost' : 'open';
}

type Verdict = 'open' | 'untold' | Over;
type Over = 'settled' | 'spent' | 'ended' | 'lost';

/** A payment of long ago may have settled, and its row be deleted, before: it raises no second event. */
async function isRecent(ctx: WatchContext, { createdAt }: OpenPayment, block: number): Promise<boolean> {
  const { time } = await agreed(ctx, 'payment', (chain) => readTimedBlock(chain, block));
  return createdAt - time * 1000 <= WATCH_MS;
}

async function putOffLook(
  { clock, db }: WatchContext,
  payment: OpenPayment,
  seen: Partial<PaymentLook>,
  pauseMs = PAUSE_MAX_MS / 2,
): Promise<void> {
  await db.write(putOff(payment, { ...payment, ...seen, nextCheckAt: Math.round(clock.now() + pauseMs) }));
}

function report({ log, metrics }: WatchContext, { id }: OpenPayment, outcome: Over): void {
  metrics.counter('vault_payments_total').add({ outcome });
  log({ level: 'info', event: 'payment', id, outcome });
}
