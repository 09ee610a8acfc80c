// IndexedDB on this device: the accounts used here; the payments of `/pay` stand beside them.
import type { Account } from '../../client/wallet/account.ts';
import { upgradePayment } from './upgrade.ts';

/** The browser stores nothing here, as in some private windows. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError';
}

/** An account that this device stores. `isNew`: it was made while somebody wanted to pay, and never paid. */
export interface KeptAccount extends Account {
  readonly isNew?: boolean | undefined;
}

/** The accounts used on this device, the most recently used first. */
export async function readAccounts(): Promise<readonly KeptAccount[]> {
  const all = await run<(KeptAccount & { usedAt: number })[]>('accounts', 'readonly', (store) => store.getAll());
  return all.sort((a, b) => b.usedAt - a.usedAt);
}

/** Stores an account as the most recently used. */
export async function keepAccount({ credentialId, address, kind, x, y, name, isNew }: KeptAccount): Promise<void> {
  const usedAt = Date.now();
  await run('accounts', 'readwrite', (store) => store.put({ credentialId, address, kind, x, y, name, isNew, usedAt }));
}

/** Stores accounts in order, the first as the most recently used; a name that this device knows already stays. */
export async function keepAccounts(accounts: readonly KeptAccount[]): Promise<void> {
  const known = await readAccounts();
  for (const account of accounts.toReversed()) {
    const name = known.find(({ address }) => address === account.address)?.name ?? account.name;
    await keepAccount({ ...account, name });
  }
  // Browsers delete what a site stores when space is short, unless it asked. A refusal changes nothing.
  void navigator.storage?.persist?.().catch(() => undefined);
}

/** One request in a transaction of its own. Throws what IndexedDB throws. */
export async function run<T>(
  name: StoreName,
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest,
): Promise<T> {
  let request: IDBRequest | undefined;
  await transact(name, mode, (store) => {
    request = ask(store);
  });
  return request?.result as T;
}

/** A transaction that is on the disk when it is over. Throws what IndexedDB throws. */
export async function transact(
  name: StoreName,
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => void,
): Promise<void> {
  const db = await open();
  const transaction = db.transaction(name, mode, { durability: 'strict' });
  act(transaction.objectStore(name));
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    transaction.onerror = () => reject(transaction.error);
  });
  db.close();
}

type StoreName = 'accounts' | 'payments';

const DATABASE = 'vault-pay';
const VERSION = 3;

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, VERSION);
  request.onupgradeneeded = ({ oldVersion }) => {
    if (oldVersion < 1) request.result.createObjectStore('payments', { keyPath: 'name' });
    if (oldVersion < 2) upgradeAccounts(request, oldVersion);
    if (oldVersion > 0 && oldVersion < 3) upgradePayments(request);
  };
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Version 1 had one account for each passkey, all of kind 1. */
function upgradeAccounts({ result: db, transaction }: IDBOpenDBRequest, oldVersion: number): void {
  const create = () => db.createObjectStore('accounts', { keyPath: 'address' });
  if (oldVersion < 1 || !transaction) return void create();
  const old = transaction.objectStore('accounts').getAll();
  old.onsuccess = () => {
    db.deleteObjectStore('accounts');
    const store = create();
    for (const account of old.result) store.put({ ...account, kind: 1 });
  };
}

/** Versions before 3 believed the bundler. */
function upgradePayments({ transaction }: IDBOpenDBRequest): void {
  const store = transaction?.objectStore('payments');
  const old = store?.getAll();
  if (!store || !old) return;
  old.onsuccess = () => {
    for (const payment of old.result) store.put(upgradePayment(payment));
  };
}
