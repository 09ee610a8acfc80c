// Problems in words, with what to do.
import type { VaultClientError } from '../../client/vault/error.ts';
import { word } from '../words/words.ts';
import { onPress, say, show, toggle, write } from './view.ts';
import { PROBLEMS, problemText } from './words.ts';

/** A way on from a problem. */
export interface WayOn {
  readonly name: string;
  readonly act: () => void;
}

/** Shows a problem by its id, with a sentence of its own if it has one; the first way on has the main button. */
export function showProblem(
  id: string,
  values: Readonly<Record<string, string>>,
  [first, second]: readonly (WayOn | undefined)[],
  detail = '',
  own?: string,
): void {
  const [title, sentence] = problemText(id, values);
  write('problem-title', title);
  write('problem-words', own ?? sentence);
  offer('problem-go', first);
  offer('problem-other', second);
  say({ 'problem-details': 'details' });
  write('problem-detail', detail);
  toggle('problem-more', detail !== '');
  show('problem');
}

/** Says that the vault cannot be reached, where its words could not be either. */
export function showUnreached(again: () => void): void {
  write('problem-title', 'The network cannot be reached');
  write('problem-words', 'Try again in a moment.');
  offer('problem-go', { name: 'Reload', act: again });
  show('problem');
}

/** The problem's id for an error, its values, and the error's own message. */
export function problemOf(error: unknown): { id: string; values: Record<string, string>; detail: string } {
  const detail = error instanceof Error ? error.message : String(error);
  const refused = refusalOf(error);
  if (!refused) {
    console.error(error);
    return { id: 'unexpected', values: {}, detail };
  }
  const { error: said, reason, retryAfter } = refused;
  const id = [`${said}.${reason}`, said].find((one) => one in PROBLEMS) ?? 'unexpected';
  return { id, values: { soon: soonOf(retryAfter) }, detail: reason ? `${detail} (${reason})` : detail };
}

/**
 * A refusal of the vault or the client; undefined for any other error. Scripts loaded apart have a class of their own.
 */
export function refusalOf(error: unknown): VaultClientError | undefined {
  return error instanceof Error && error.name === 'VaultClientError' ? (error as VaultClientError) : undefined;
}

/** When to try again. */
export function soonOf(seconds: number | undefined): string {
  if (seconds === undefined) return word('soon');
  const minutes = Math.ceil(seconds / 60);
  if (minutes <= 1) return word('minute');
  const hours = Math.ceil(minutes / 60);
  if (minutes < 90) return word('minutes', { count: minutes });
  return hours < 48 ? word('hours', { count: hours }) : word('days', { count: Math.ceil(hours / 24) });
}

function offer(id: string, way: WayOn | undefined): void {
  write(id, way?.name);
  if (way) onPress(id, way.act);
}
