// A link that leads nowhere, as the vault has judged it.
import { loadWords } from '../words/words.ts';
import { showProblem, showUnreached } from './problem.ts';

/** What the vault has written into this page: the link's fault, or the app of a client with a document. */
export function metaOf(name: 'vault-fault' | 'vault-app'): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;
}

/** Logs the fault for the link's developer, whose console is open. On loopback the page shows it too. */
export async function showFault(fault: string, again: () => void): Promise<void> {
  console.error(fault);
  if (!(await loadWords('authorize'))) return showUnreached(again);
  showProblem('link', {}, [], isLoopback(location.hostname) ? fault : '');
}

const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/;

/** Whether a host, perhaps with a port, is this device. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
