// IndexedDB on this device: the accounts used here, and every payment from its signature on.

import type { Account } from '../wallet/account.ts';
import type { Hex } from '../wallet/bytes.ts';
import { MemoryError, run, transact } from '../wallet/memory.ts';
import type { Operation } from '../wallet/operation.ts';
import { PAYMENT_KEEP_MS } from './constants.ts';
import type { Receipt } from './receipt.ts';
import type { Asker } from './request.ts';

/**
 * A signed payment. `signed`: stored, nothing sent yet; `sent`: the bundler may have it; `refused`: the bundler refused
 * it, and the same account and nonce may sign again; `settled` and `failed`: it is in a block.
 */
export interface StoredPayment {
  /** `nameOf` the payment. One record each, so there is never a second signature while one is pending. */
  readonly name: string;
  readonly terms: string;
  /** The URL of the page, which finds the payment after the worker that held the request has ended. */
  readonly page: string;
  readonly asker: Asker;
  readonly state: 'signed' | 'sent' | 'refused' | 'settled' | 'failed';
  readonly account: Account;
  readonly token: string;
  readonly receipt?: Receipt;
  readonly chainId: number;
  readonly entryPoint: Hex;
  readonly operation: Operation;
  readonly userOpHash: Hex;
  /** When it can no longer be included, in this device's milliseconds. Absent where it does not end. */
  readonly endsAt?: number;
  readonly txHash?: Hex;
  readonly changedAt: number;
}

/** The record of a payment; undefined if it was never signed here. */
export function findPayment(name: string): Promise<StoredPayment | undefined> {
  return run('payments', 'readonly', (store) => store.get(name));
}

/** The payment that the page with this URL sent, if any. */
export async function findPaymentOf(page: string): Promise<StoredPayment | undefined> {
  const all = await run<StoredPayment[]>('payments', 'readonly', (store) => store.getAll());
  return all.find((payment) => payment.page === page && ['sent', 'settled'].includes(payment.state));
}

/**
 * Stores a signed payment. Returns false and changes nothing if one with that name is pending or over. It is one
 * transaction, so of two tabs exactly one succeeds.
 */
export async function addPayment(payment: StoredPayment): Promise<boolean> {
  let added = false;
  await transact('payments', 'readwrite', (store) => {
    const found = store.get(payment.name);
    found.onsuccess = () => {
      const known = found.result as StoredPayment | undefined;
      added = known === undefined || known.state === 'refused';
      if (added) store.put(payment);
    };
  });
  return added;
}

/** Stores a payment's new state. */
export async function updatePayment(
  payment: StoredPayment,
  change: Pick<StoredPayment, 'state'> & Partial<StoredPayment>,
): Promise<StoredPayment> {
  const changed = { ...payment, ...change, changedAt: Date.now() };
  await run('payments', 'readwrite', (store) => store.put(changed));
  return changed;
}

/** Deletes a payment that was signed and never sent. One that another tab has sent meanwhile stays. */
export async function dropPayment(name: string): Promise<void> {
  await run('payments', 'readwrite', (store) => {
    const found = store.get(name);
    found.onsuccess = () => {
      if ((found.result as StoredPayment | undefined)?.state === 'signed') store.delete(name);
    };
    return found;
  });
}

/** Throws `MemoryError` if nothing can be stored. */
export async function checkMemory(): Promise<void> {
  try {
    await sweepPayments(Date.now());
  } catch (cause) {
    throw new MemoryError('no IndexedDB', { cause });
  }
}

/** Forgets payments that are over and old; one that may be under way is kept for good. */
async function sweepPayments(now: number): Promise<void> {
  const all = await run<StoredPayment[]>('payments', 'readonly', (store) => store.getAll());
  const over = all.filter(({ state, changedAt }) => state !== 'sent' && changedAt < now - PAYMENT_KEEP_MS);
  for (const { name } of over) await run('payments', 'readwrite', (store) => store.delete(name));
}
