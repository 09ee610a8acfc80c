// What this page keeps over a reload. What a sign-up has shown so far stays in the tab; nothing of it outlives that.
import { type Memory, openMemory } from '../../client/vault/progress.ts';
import type { AppLink } from './link.ts';

const KNOWN = 'vault.register.known';
const FOR = 'vault.register.for';

/** The progress of a sign-up in this tab. */
export function openTabMemory(): Memory {
  return openMemory(location.origin, attempt(() => sessionStorage) ?? null);
}

/** Whether somebody has signed in on this device. */
export function isKnownHere(): boolean {
  return attempt(() => localStorage.getItem(KNOWN)) === '1';
}

/** Notes that somebody did. */
export function noteKnown(): void {
  attempt(() => localStorage.setItem(KNOWN, '1'));
}

/** Notes for which request of the app the sign-up in this tab is. */
export function noteRequest({ codeChallenge }: AppLink): void {
  attempt(() => sessionStorage.setItem(FOR, codeChallenge));
}

/** Whether the sign-up in this tab was begun by this very link: another one starts over. */
export function isSameRequest({ codeChallenge }: AppLink): boolean {
  return attempt(() => sessionStorage.getItem(FOR)) === codeChallenge;
}

/** A window that stores nothing goes on without. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
