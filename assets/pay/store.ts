// IndexedDB on this device: every payment from its first signature on.

import type { Account } from '../../client/wallet/account.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import type { Operation } from '../../client/wallet/operation.ts';
import type { Asker } from '../wallet/asker.ts';
import type { Version as JudgedVersion, Nothing } from '../wallet/judge.ts';
import { MemoryError, run, transact } from '../wallet/memory.ts';
import { PAYMENT_KEEP_MS } from './constants.ts';
import type { Receipt } from './receipt.ts';

/** One operation that the passkey signed for a payment. */
export interface Version extends JudgedVersion {
  readonly operation: Operation;
}

/** The bundler's last answer for a payment. It is shown, and never believed. */
export interface Answer {
  /** `lost`: there was no answer. */
  readonly is: 'taken' | 'refused' | 'lost';
  readonly words: string;
  /** The EntryPoint's code in it, such as `AA10`. */
  readonly aa: string;
}

/**
 * A payment that was signed. `signed`: stored, nothing sent yet; `unconfirmed`: it may have been sent; `paid`: a block
 * of the chain shows it. By a final block: `failed`: nothing was paid, and its nonce is spent; `voided`: the person
 * cancelled it; `ended`: its time is over, and the same account can sign it again.
 */
export interface StoredPayment {
  /** `nameOf` the payment. One record each, of one account. */
  readonly name: string;
  readonly terms: string;
  /** The URL of the page, which finds the payment after the worker that held the request has ended. */
  readonly page: string;
  readonly asker: Asker;
  readonly state: 'signed' | 'unconfirmed' | 'paid' | 'failed' | 'voided' | 'ended';
  /** Why a payment that failed did. */
  readonly why?: Nothing;
  readonly account: Account;
  readonly token: string;
  readonly receipt?: Receipt;
  readonly chainId: number;
  readonly entryPoint: Hex;
  readonly nonce: Hex;
  /** The block from which its operation is looked for; records of earlier pages do not say. */
  readonly since?: number | undefined;
  /** When the shop's request ends, in this device's milliseconds: nothing is signed for it any more. */
  readonly endsBy: number;
  /** All that was ever signed for it, the newest last. */
  readonly versions: readonly Version[];
  readonly answer?: Answer;
  /** The operation that paid; a block that is not final can still be taken back. */
  readonly paid?: Paid | undefined;
  readonly changedAt: number;
}

interface Paid {
  readonly userOpHash: Hex;
  readonly txHash: Hex;
  readonly block: number;
  readonly final: boolean;
}

/** The record of a payment; undefined if it was never signed here. */
export function findPayment(name: string): Promise<StoredPayment | undefined> {
  return run('payments', 'readonly', (store) => store.get(name));
}

/** The newest payment that the page with this URL sent and that is in one of these states. */
export async function findPaymentOf(
  page: string,
  states: readonly StoredPayment['state'][],
): Promise<StoredPayment | undefined> {
  const all = await run<StoredPayment[]>('payments', 'readonly', (store) => store.getAll());
  const its = all.filter((payment) => payment.page === page && states.includes(payment.state));
  return its.sort((a, b) => b.changedAt - a.changedAt)[0];
}

/** The newest operation of a payment that may still be paid, or is; undefined if there is none. */
export async function findLiveHash(name: string): Promise<Hex | undefined> {
  const known = await findPayment(name);
  return known && isLive(known) ? known.versions.at(-1)?.userOpHash : undefined;
}

/** Whether a payment may still be paid, or is. */
export function isLive({ state }: Pick<StoredPayment, 'state'>): boolean {
  return state === 'unconfirmed' || state === 'paid';
}

/** Whether a payment is proved not to have happened, and the order can be paid again on this device. */
export function isOver({ state }: Pick<StoredPayment, 'state'>): boolean {
  return state === 'voided' || state === 'ended';
}

/**
 * Stores a payment with its first version, unless it is known and not over; answers the record that there is then. It
 * is one transaction, so exactly one of two tabs succeeds, and an order has one account.
 */
export function addPayment(payment: StoredPayment): Promise<StoredPayment> {
  return change(payment.name, (known) => {
    if (known && !isOver(known)) return known;
    // The operation of an earlier request for the same order is looked for as well.
    return known?.since === undefined ? payment : { ...payment, since: known.since };
  }) as Promise<StoredPayment>;
}

/**
 * Adds a version to a payment that is not confirmed, so that all that can ever settle is known; answers the record.
 */
export async function addVersion({ name }: StoredPayment, version: Version): Promise<StoredPayment | undefined> {
  return change(name, (known) =>
    known?.state === 'unconfirmed' ? { ...known, versions: [...known.versions, version] } : known,
  );
}

/**
 * Marks a payment as sent, before it is; answers the record. `isOurs` is false if another tab dropped it, or signed the
 * order with another account meanwhile: then these bytes must not be sent.
 */
export async function markSent(
  payment: StoredPayment,
): Promise<{ record: StoredPayment | undefined; isOurs: boolean }> {
  const hash = payment.versions[0]?.userOpHash;
  const isSame = (known: StoredPayment | undefined) => known?.versions[0]?.userOpHash === hash;
  const record = await change(payment.name, (known) =>
    known?.state === 'signed' && isSame(known) ? { ...known, state: 'unconfirmed' } : known,
  );
  return { record, isOurs: isSame(record) && record?.state === 'unconfirmed' };
}

/**
 * Changes a payment that is as it was read; answers the record. Findings about some versions are not true of a record
 * that has others by now, or that another account has signed since.
 */
export async function updatePayment(payment: StoredPayment, to: Partial<StoredPayment>): Promise<StoredPayment> {
  const facts = ({ state, account, versions }: StoredPayment) => JSON.stringify([state, account.address, versions]);
  const changed = await change(payment.name, (known) =>
    known && facts(known) === facts(payment) ? { ...known, ...to } : known,
  );
  return changed ?? payment;
}

/** Deletes a payment that was signed and never sent; answers the one that another tab has sent meanwhile. */
export function dropPayment(name: string): Promise<StoredPayment | undefined> {
  return change(name, (known) => (known?.state === 'signed' ? undefined : known));
}

/** Reads a record and writes what becomes of it, in one transaction. */
async function change(
  name: string,
  act: (known: StoredPayment | undefined) => StoredPayment | undefined,
): Promise<StoredPayment | undefined> {
  let result: StoredPayment | undefined;
  await transact('payments', 'readwrite', (store) => {
    const found = store.get(name);
    found.onsuccess = () => {
      const known = found.result as StoredPayment | undefined;
      result = act(known);
      if (result === known) return;
      if (result) store.put({ ...result, changedAt: Date.now() });
      else store.delete(name);
    };
  });
  return result;
}

/** Throws `MemoryError` if nothing can be stored. */
export async function checkMemory(): Promise<void> {
  try {
    await sweepPayments(Date.now());
  } catch (cause) {
    throw new MemoryError('no IndexedDB', { cause });
  }
}

/** Forgets payments that are over and old; one that is not confirmed is kept for good. */
async function sweepPayments(now: number): Promise<void> {
  const all = await run<StoredPayment[]>('payments', 'readonly', (store) => store.getAll());
  const old = all.filter(({ state, changedAt }) => state !== 'unconfirmed' && changedAt < now - PAYMENT_KEEP_MS);
  for (const { name } of old) await run('payments', 'readwrite', (store) => store.delete(name));
}
