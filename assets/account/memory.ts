// This page's state over a reload, beside the accounts of the device. None of it is secret.
/** Names: an operation on its way, a join opened or made here, a recovery, whether keys are synced, passkeys. */
type Name = 'sent' | 'join' | 'made' | 'synced' | 'signed-in' | 'lost' | 'passkeys';

/** The value remembered under a name; undefined if there is none, or it is nonsense. */
export function recall<T>(name: Name): T | undefined {
  try {
    return (JSON.parse(localStorage.getItem(keyOf(name)) ?? 'null') ?? undefined) as T | undefined;
  } catch {
    return undefined;
  }
}

/** Remembers something. A window that stores nothing goes on without. */
export function remember(name: Name, value: unknown): void {
  try {
    localStorage.setItem(keyOf(name), JSON.stringify(value));
  } catch {
    // Then a reload starts over.
  }
}

/** Forgets it. */
export function forget(name: Name): void {
  try {
    localStorage.removeItem(keyOf(name));
  } catch {
    // Without storage there is nothing to forget.
  }
}

function keyOf(name: Name): string {
  return `vault-account-${name}`;
}

/** Notes whether a passkey that was used or made here is synced. */
export function noteSynced(x: string, isSynced: boolean): void {
  remember('synced', { ...recall<Record<string, boolean>>('synced'), [x.toLowerCase()]: isSynced });
}

/** Whether the key's passkey is synced; null for a key that was never used here. */
export function isSyncedHere(x: string): boolean | null {
  return recall<Record<string, boolean>>('synced')?.[x.toLowerCase()] ?? null;
}
