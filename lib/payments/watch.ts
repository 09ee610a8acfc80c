import { MINUTE_MS } from '../base/clock.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { readTimedBlock } from '../chain/blocks.ts';
import { FRESH_BLOCKS } from '../chain/entry-point.ts';
import { agreed } from '../chain/witness.ts';
import type { Platform } from '../platform.ts';
import {
  type ChainEnds,
  firstBlockOf,
  type OutcomeContext,
  type PaymentOutcome,
  readEnds,
  readOutcomeAt,
} from './outcome.ts';
import {
  dropPayment,
  type OpenPayment,
  putOff,
  selectDuePayments,
  settlePayment,
  toOpenPayment,
  WATCH_MS,
  WATCH_REFUSED_MS,
  WORD,
} from './store.ts';

/** How long one process looks before it takes the lease again. It saves work, and is not what makes it safe. */
const PAYMENTS_LEASE_MS = 5_000;
/** The payments that one turn looks at. */
const PAYMENTS_MAX = 50;
/** The longest pause after a look that the chain's node did not answer. */
const RETRY_MAX_MS = MINUTE_MS;
/** The pauses between two looks at a payment; of one that was seen in a block, which costs no request. */
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 5 * MINUTE_MS;
const SEEN_MS = 10_000;
/** The pause where a node does not show what it would take, after so many looks. */
export const PAYMENT_PAUSE_MAX_MS = 10 * MINUTE_MS;
const OFTEN = 8;
/** What a node may tell later, it tells within so many looks; of a contract of unknown code none ever does. */
const UNTOLD_LOOKS_MAX = 24;

type Ctx = OutcomeContext & Pick<Platform, 'leases'>;

/**
 * A background task: looks at each watched payment until a final block shows what became of it, and settles those that
 * moved their money. Any of it may happen in several processes at once: each write holds only if nobody was faster.
 */
export function createPaymentWatch(): (ctx: Ctx) => Promise<boolean> {
  let failures = 0;
  let dueAt = 0;
  return async (ctx) => {
    const { config, clock, db, leases, log } = ctx;
    const now = clock.now();
    if (clock.monotonic() < dueAt || config.entryPointAddress === null) return false;
    const place = { chainId: config.chainId, entryPoint: config.entryPointAddress.toLowerCase() };
    const rows = await db.read(selectDuePayments(place, now, PAYMENTS_MAX));
    if (rows.length === 0 || !(await leases.take('payments', PAYMENTS_LEASE_MS))) return false;
    try {
      await lookAt(ctx, rows.map(toOpenPayment));
      failures = 0;
      return rows.length === PAYMENTS_MAX;
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      log({ level: 'debug', event: 'payments_interrupted', ...describeError(error) });
      dueAt = clock.monotonic() + Math.min(RETRY_MAX_MS, 1000 * 2 ** failures++);
      return false;
    }
  };
}

/** One that cannot be judged now holds up no other. */
async function lookAt(ctx: Ctx, payments: readonly OpenPayment[]): Promise<void> {
  const ends = await readEnds(ctx);
  const looks = await Promise.allSettled(payments.map((payment) => look(ctx, payment, ends)));
  const failure = worstFailure(looks);
  if (failure && !(failure instanceof VaultError)) throw failure;
}

async function look(ctx: Ctx, payment: OpenPayment, ends: ChainEnds): Promise<void> {
  const { clock, db } = ctx;
  const since = payment.sinceBlock ?? firstBlockOf(payment.createdAt, ends, clock.now());
  // One that was seen in a block is read again when that is final.
  if (payment.block !== null && payment.block > (ends.final?.number ?? -1))
    return putOffLook(ctx, { ...payment, sinceBlock: since }, SEEN_MS);
  const outcome = await ask(ctx, payment, since, ends).catch(async (failure) => {
    if (failure instanceof VaultError) await putOffLook(ctx, { ...payment, sinceBlock: since });
    throw failure;
  });
  const { operation, next } = outcome;
  const now = clock.now();
  const verdict = judge(payment, outcome, now);
  if (verdict === 'open' || verdict === 'untold') {
    // What a search left out, it looks for again from the start, less and less often.
    const isThrough = outcome.spentFinal && !operation && next >= ends.head.number - FRESH_BLOCKS;
    const seen = { sinceBlock: since, nextBlock: isThrough ? since : next, block: operation?.block ?? null };
    return putOffLook(ctx, { ...payment, ...seen }, pauseOf(payment, { verdict, outcome, isThrough, now }));
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

function ask(ctx: Ctx, payment: OpenPayment, since: number, ends: ChainEnds): Promise<PaymentOutcome> {
  const { account, nonce, to, token, amount, userOpHash, nextBlock } = payment;
  const movement = { to, token, amount: BigInt(amount) };
  const query = { account, nonce: BigInt(nonce), movement, since: nextBlock ?? since, hint: userOpHash };
  return readOutcomeAt(ctx, query, ends);
}

/**
 * `settled` and `spent` (by an operation that did not pay) are what a final block shows. `ended`: the nonce is unspent,
 * and what was signed has ended by the time of a final block, or was watched for long enough. `lost`: no search finds
 * what spent the nonce. `untold`: a node did not show whether ether moved.
 */
function judge(
  { validUntil, createdAt, token, said, checks }: OpenPayment,
  outcome: PaymentOutcome,
  now: number,
): Verdict {
  const { operation, final, spent } = outcome;
  const age = now - createdAt;
  const watchMs = said === WORD.refused ? WATCH_REFUSED_MS : WATCH_MS;
  const isOver = age > 2 * watchMs;
  if (operation?.final && operation.moved !== null) return operation.moved ? 'settled' : 'spent';
  if (operation?.final) return token !== 'native' || checks > UNTOLD_LOOKS_MAX || isOver ? 'spent' : 'untold';
  if (final && !spent && (final.time > validUntil || age > watchMs)) return 'ended';
  return isOver ? 'lost' : 'open';
}

type Verdict = 'open' | 'untold' | Over;
type Over = 'settled' | 'spent' | 'ended' | 'lost';

/** A payment of long ago may have settled, and its row be deleted, before: it raises no second event. */
async function isRecent(ctx: Ctx, { createdAt }: OpenPayment, block: number): Promise<boolean> {
  const { time } = await agreed(ctx, 'payment', (chain) => readTimedBlock(chain, block));
  return createdAt - time * 1000 <= WATCH_MS;
}

async function putOffLook({ clock, db }: Ctx, payment: OpenPayment, pauseMs = PAUSE_MAX_MS / 2): Promise<void> {
  await db.write(putOff(payment, { ...payment, nextCheckAt: Math.round(clock.now() + pauseMs) }));
}

function report({ log, metrics }: Ctx, { id }: OpenPayment, outcome: Over): void {
  metrics.counter('vault_payments_total').add({ outcome });
  log({ level: 'info', event: 'payment', id, outcome });
}
