// What this device remembers, in IndexedDB: the accounts used here, and every payment from its signature on.
import type { Hex } from './bytes.ts';
import { PAYMENT_KEEP_MS } from './constants.ts';
import type { Account, Operation } from './operation.ts';
import type { Asker } from './request.ts';

/**
 * A payment that was signed. `signed`: kept here before anything was sent; `sent`: the bundler may have it; `refused`: it said no, and another
 * signature of the same account and nonce may follow; `settled` and `failed`: it is in a block.
 */
export interface StoredPayment {
  /** `nameOf` the payment: one record each, so there is never a second signature while one is under way. */
  readonly name: string;
  readonly terms: string;
  /** The page's own URL, by which it finds what it sent when nobody can tell it the request any more. */
  readonly page: string;
  readonly asker: Asker;
  readonly state: 'signed' | 'sent' | 'refused' | 'settled' | 'failed';
  readonly account: Account;
  readonly token: string;
  readonly chainId: number;
  readonly entryPoint: Hex;
  readonly operation: Operation;
  readonly userOpHash: Hex;
  readonly txHash?: Hex;
  readonly changedAt: number;
}

/** The accounts used on this device, the newest first. */
export async function readAccounts(): Promise<readonly Account[]> {
  const all = await run<(Account & { usedAt: number })[]>('accounts', 'readonly', (store) => store.getAll());
  return all.sort((a, b) => b.usedAt - a.usedAt);
}

/** Remembers an account as the one used last. */
export async function keepAccount({ credentialId, address, x, y, name }: Account): Promise<void> {
  const usedAt = Date.now();
  await run('accounts', 'readwrite', (store) => store.put({ credentialId, address, x, y, name, usedAt }));
}

/** The record of a payment; undefined when it was never signed here. */
export function findPayment(name: string): Promise<StoredPayment | undefined> {
  return run('payments', 'readonly', (store) => store.get(name));
}

/** The payment that a page of this URL has sent; undefined when it sent none. */
export async function findPaymentOf(page: string): Promise<StoredPayment | undefined> {
  const all = await run<StoredPayment[]>('payments', 'readonly', (store) => store.getAll());
  return all.find((payment) => payment.page === page && ['sent', 'settled'].includes(payment.state));
}

/**
 * Records a signed payment, unless one of that name is under way or over: then false, and nothing changes. One transaction, so of two tabs
 * exactly one succeeds.
 */
export async function addPayment(payment: StoredPayment): Promise<boolean> {
  const db = await open();
  const transaction = db.transaction('payments', 'readwrite', { durability: 'strict' });
  const store = transaction.objectStore('payments');
  let added = false;
  const found = store.get(payment.name);
  found.onsuccess = () => {
    const known = found.result as StoredPayment | undefined;
    added = known === undefined || known.state === 'refused';
    if (added) store.put(payment);
  };
  await completion(transaction);
  db.close();
  return added;
}

/** Writes down what became of a payment. */
export async function updatePayment(
  payment: StoredPayment,
  change: Pick<StoredPayment, 'state'> & Partial<StoredPayment>,
): Promise<StoredPayment> {
  const changed = { ...payment, ...change, changedAt: Date.now() };
  await run('payments', 'readwrite', (store) => store.put(changed));
  return changed;
}

/** Forgets a payment that was signed and never sent; one that another tab has sent meanwhile stays. */
export async function dropPayment(name: string): Promise<void> {
  await run('payments', 'readwrite', (store) => {
    const found = store.get(name);
    found.onsuccess = () => {
      if ((found.result as StoredPayment | undefined)?.state === 'signed') store.delete(name);
    };
    return found;
  });
}

/** This browser remembers nothing here, as some do in private windows: nothing may be signed, since it could be paid again from another account. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError';
}

/** Throws `MemoryError` when nothing can be remembered. */
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

const DATABASE = 'vault-pay';
const VERSION = 1;

async function run<T>(
  name: 'accounts' | 'payments',
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest,
): Promise<T> {
  const db = await open();
  const transaction = db.transaction(name, mode, { durability: 'strict' });
  const request = ask(transaction.objectStore(name));
  await completion(transaction);
  db.close();
  return request.result as T;
}

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, VERSION);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('accounts', { keyPath: 'credentialId' });
    request.result.createObjectStore('payments', { keyPath: 'name' });
  };
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function completion(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    transaction.onerror = () => reject(transaction.error);
  });
}
