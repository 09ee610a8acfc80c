// Follows a payment until the vault's own node shows what became of it.

import { RefusedError, UnreachableError } from '../../client/wallet/vault.ts';
import * as api from '../wallet/api.ts';
import { isSearched, judge, type Nothing, type SeenOperation, type Verdict } from '../wallet/judge.ts';
import { RESEND_MS } from './constants.ts';
import { resend } from './pay.ts';
import { findPayment, isOver, type StoredPayment, updatePayment } from './store.ts';

/** A poll's result; `verdict` is undefined if the vault did not answer. */
export interface Look {
  readonly record: StoredPayment;
  readonly verdict: Verdict | undefined;
}

/** The members of a payment's record that say where to look, and for what. */
export type Wanted = Pick<
  StoredPayment,
  'account' | 'nonce' | 'chainId' | 'entryPoint' | 'token' | 'terms' | 'since'
> & {
  readonly versions: StoredPayment['versions'];
};

/**
 * Looks for the operation that spent a payment's nonce. Each look goes on where the one before ended; one that reached
 * the newest block without finding it starts the next further back.
 */
export function createSearch(first: Wanted): (now: Wanted) => Promise<Verdict | undefined> {
  let { since: start } = first;
  let since = start;
  return async (wanted) => {
    try {
      start ??= (await api.readFees()).block;
      since ??= start;
      const [, token = '', amount = '', to = ''] = wanted.terms.split(' ');
      const { account, nonce, versions } = wanted;
      const hint = versions.at(-1)?.userOpHash;
      const wants = { account: account.address, nonce, since, to, token, amount, ...(hint && { hint }) };
      const outcome = await api.readOutcome(wants);
      if (outcome.operation) since = outcome.operation.block;
      else if (!isSearched(outcome)) since = outcome.next;
      else since = start = Math.max(0, 3 * start - 2 * outcome.head.number - STEP_BACK);
      return judge(wanted, outcome);
    } catch (error) {
      if (error instanceof UnreachableError || error instanceof RefusedError) return undefined;
      throw error;
    }
  };
}

/** How much further back a search begins that found nothing, besides twice what it has read. */
const STEP_BACK = 1_000;

/**
 * Watches a payment until it is paid, or proved not to be. Calls `tick` after each poll. An operation that the bundler
 * may have taken is sent to it again now and then: a restarted bundler has forgotten it.
 */
export async function watch(first: StoredPayment, tick: (look: Look) => void): Promise<StoredPayment> {
  const search = createSearch(first);
  const startedAt = Date.now();
  let sentAt = first.answer ? startedAt : 0;
  for (;;) {
    // Another tab, or a button of this one, may have signed another version.
    const record = (await findPayment(first.name)) ?? first;
    if (isDone(record)) return record;
    const verdict = await search(record);
    const over = verdict && (await conclude(record, verdict));
    if (over) return over;
    tick({ record, verdict });
    const isOpen = verdict?.is === 'open' && verdict.sign === 'none' && record.answer?.is !== 'refused';
    if (isOpen && Date.now() - sentAt > RESEND_MS) {
      sentAt = Date.now();
      await resend(record);
    }
    await pause(pauseOf(Date.now() - startedAt));
  }
}

/** A payment in a block that is not final can be taken back: it is looked at again. */
function isDone(record: StoredPayment): boolean {
  return isOver(record) || record.state === 'failed' || record.paid?.final === true;
}

/** The record once it is decided; undefined while it is open, or if it has changed since it was judged. */
async function conclude(record: StoredPayment, verdict: Verdict): Promise<StoredPayment | undefined> {
  if (verdict.is === 'open') {
    if (record.state === 'paid') await updatePayment(record, { state: 'unconfirmed', paid: undefined });
    return undefined;
  }
  const to = verdict.is === 'paid' ? paidBy(verdict.operation) : unpaidFor(verdict.why);
  const now = await updatePayment(record, to);
  return now.state === to.state ? now : undefined;
}

/** The record's change for the operation that paid. */
export function paidBy({ userOpHash, txHash, block, final }: SeenOperation) {
  return { state: 'paid', paid: { userOpHash, txHash, block, final } } as const;
}

function unpaidFor(why: Nothing) {
  return { state: why === 'ended' || why === 'voided' ? why : 'failed', why, paid: undefined } as const;
}

/** Many buyers may share one address, and the vault counts its questions. */
function pauseOf(waitedMs: number): number {
  if (waitedMs < 3_000) return 1_000;
  if (waitedMs < 60_000) return 2_000;
  return waitedMs < 300_000 ? 5_000 : 15_000;
}

/** Waits this long. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
