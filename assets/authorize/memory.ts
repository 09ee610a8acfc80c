// State that this page keeps over a reload. The progress of a sign-up stays in the tab, for the link that began it.
import { type Memory, openMemory } from '../../client/vault/progress.ts';
import type { Account } from '../../client/wallet/account.ts';
import { keepAccount, run } from '../wallet/memory.ts';
import type { AppLink } from './link.ts';

const KNOWN = 'vault.authorize.known';
const FOR = 'vault.authorize.for';
const SHARED = 'vault.authorize.shared';
const LED = 'vault.authorize.led';

/** A sign-up that nobody goes on with is over: a browser may restore the tab days later. */
const ENDS_MS = 15 * 60_000;

/** The progress of a sign-up in this tab. */
export function openTabMemory(): Memory {
  return openMemory(location.origin, attempt(() => sessionStorage) ?? null, ENDS_MS);
}

/** Notes for which link the sign-up in this tab is. */
export function noteRequest(link: AppLink): void {
  attempt(() => sessionStorage.setItem(FOR, link.query));
}

/**
 * Whether the sign-up in this tab was begun by this very link. Of another one everything is forgotten that could be
 * shown to an app without its person: only a passkey that has registered nothing yet may serve again.
 */
export function isSameRequest(link: AppLink, memory: Memory): boolean {
  if (attempt(() => sessionStorage.getItem(FOR)) === link.query) return true;
  const { identifier, channel, passkey, request } = memory.read() ?? {};
  memory.forget();
  attempt(() => sessionStorage.removeItem(FOR));
  if (identifier && channel && passkey && !passkey.owner && !request) memory.write({ identifier, channel, passkey });
  return false;
}

/** Whether somebody has signed in on this device. */
export function isKnownHere(): boolean {
  return attempt(() => localStorage.getItem(KNOWN)) != null;
}

/** Notes that somebody did, unless the device is not theirs. */
export function noteKnown(): void {
  if (!isShared() && !isKnownHere()) attempt(() => localStorage.setItem(KNOWN, ''));
}

/** Keeps the account for the pages of the account and of payments, unless the device is not the person's. */
export async function keepHere(account: Account): Promise<void> {
  if (isShared()) return;
  // A window that stores nothing goes on without.
  await keepAccount(account).catch(() => undefined);
  attempt(() => localStorage.setItem(KNOWN, [localStorage.getItem(KNOWN), account.address].filter(Boolean).join(' ')));
}

/** Forgets who has signed in on this device, and the accounts that this page has kept. */
export async function forgetDevice(): Promise<void> {
  const accounts = attempt(() => localStorage.getItem(KNOWN)) ?? '';
  attempt(() => localStorage.removeItem(KNOWN));
  for (const address of accounts.split(' ').filter((one) => one.startsWith('0x')))
    await run('accounts', 'readwrite', (store) => store.delete(address)).catch(() => undefined);
}

/** Whether the person said that the device is not theirs. */
export function isShared(): boolean {
  return attempt(() => sessionStorage.getItem(SHARED)) === '1';
}

/** Notes it for this tab. */
export function noteShared(isShared: boolean): void {
  attempt(() => (isShared ? sessionStorage.setItem(SHARED, '1') : sessionStorage.removeItem(SHARED)));
}

/** Whether this tab may be led to the vault's own origin: once, as a proxy may lead it back here. */
export function mayLead(): boolean {
  const isLed = attempt(() => sessionStorage.getItem(LED)) === '1';
  attempt(() => sessionStorage.setItem(LED, '1'));
  return !isLed;
}

/** A window that stores nothing goes on without. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
