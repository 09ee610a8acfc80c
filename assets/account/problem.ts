// Runs the steps of the page; what they throw becomes words, with a way on.

import { PasskeyError } from '../../client/wallet/passkey.ts';
import { FeeBoundError } from '../../client/wallet/send.ts';
import { RefusedError, UnreachableError } from '../../client/wallet/vault.ts';
import { word } from '../words/words.ts';
import { VaultRefusal } from './http.ts';
import { onPress, show, toggle, write } from './view.ts';
import { PROBLEMS, type Problem, REFUSALS, SOON, said, whenOf } from './words.ts';

/** A fault that has words of its own. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly problem: Problem;

  constructor(problem: Problem, detail = '') {
    super(detail);
    this.problem = problem;
  }
}

/** What a step can be followed by. */
export interface After {
  /** What trying again does; without it there is only the way back. */
  readonly again?: () => void;
  /** What happens when no passkey was used; without it that is a problem too. */
  readonly noPasskey?: () => void;
  /** Whether the person has gone elsewhere since: then nothing is shown. */
  readonly isLate?: () => boolean;
}

/** Runs a step. */
export function guard(run: () => Promise<void>, after: After = {}): void {
  run().catch((error: unknown) => {
    if (after.isLate?.()) return undefined;
    if (error instanceof PasskeyError && after.noPasskey) return after.noPasskey();
    const [words, detail] = wordsOf(error);
    showProblem(words, detail, after.again);
  });
}

/** Shows what went wrong, and what to do. */
export function showProblem([title, text]: readonly [string, string], detail: string, again?: () => void): void {
  write('problem-title', title);
  write('problem-words', text);
  write('problem-detail', detail);
  toggle('problem-more', detail !== '');
  toggle('retry', again !== undefined);
  if (again) onPress('retry', again);
  show('problem');
}

/** Title and text for an error, and what it says itself. */
export function wordsOf(error: unknown): [readonly [string, string], string] {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof ProblemError) return [said(PROBLEMS[error.problem]), detail];
  if (error instanceof VaultRefusal) {
    const [title, text] = REFUSALS[error.code] ?? PROBLEMS.refused;
    const isTimed = text === SOON && error.retryAfter !== undefined;
    return [[word(title), isTimed ? whenOf(error.retryAfter ?? 0) : word(text)], error.code];
  }
  if (error instanceof UnreachableError) return [said(PROBLEMS.down), detail];
  if (error instanceof FeeBoundError) return [said(PROBLEMS.fee_bound), detail];
  if (error instanceof RefusedError) return [said(PROBLEMS.refused), detail];
  if (error instanceof PasskeyError)
    return [[word('No passkey was used'), word('Nothing has changed. Try again.')], ''];
  console.error(error);
  return [said(PROBLEMS.unexpected), detail];
}
