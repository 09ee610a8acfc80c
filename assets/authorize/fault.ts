// A link that leads nowhere, as the vault has judged it.
import { loadWords } from '../words/words.ts';
import { showProblem, showUnreached } from './problem.ts';

/** The fault in this page's link; undefined if it has none. */
export function faultOfLink(): string | undefined {
  return document.querySelector<HTMLMetaElement>('meta[name="vault-fault"]')?.content;
}

/** Logs the fault for the link's developer, whose console is open. On loopback the page shows it too. */
export async function showFault(fault: string, again: () => void): Promise<void> {
  console.error(fault);
  if (!(await loadWords('authorize'))) return showUnreached(again);
  showProblem('link', {}, [], LOOPBACK.test(location.hostname) ? fault : '');
}

const LOOPBACK = /^(?:.+\.)?localhost$|^127\.|^\[::1\]$/;
