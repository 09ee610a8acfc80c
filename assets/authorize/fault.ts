// A link that leads nowhere, as the vault has judged it.
import { loadWords } from '../words/words.ts';
import { showProblem, showUnreached } from './problem.ts';

/** What is wrong with the link of this page; undefined where it is in order. */
export function faultOfLink(): string | undefined {
  return document.querySelector<HTMLMetaElement>('meta[name="vault-fault"]')?.content;
}

/** What is wrong is for the link's developer, who has the console open, and on loopback for everybody. */
export async function showFault(fault: string, again: () => void): Promise<void> {
  console.error(fault);
  if (!(await loadWords('authorize'))) return showUnreached(again);
  showProblem('link', {}, [], LOOPBACK.test(location.hostname) ? fault : '');
}

const LOOPBACK = /^(?:.+\.)?localhost$|^127\.|^\[::1\]$/;
