// The way back to the app: it is taken once, even while other steps run.
import { word } from '../words/words.ts';
import { type Answer, type Choice, type Evidence, type Picked, requestCancel, requestCode } from './api.ts';
import { noteKnown, openTabMemory } from './memory.ts';
import type { Place } from './place.ts';
import { showUnreached } from './problem.ts';
import { offerCancel, show, write } from './view.ts';

let isLeft = false;

/** A code, or what there is to choose before; after Cancel none is asked for any more. */
export function codeFor({ link }: Place, evidence: Evidence, picked: Picked | undefined): Promise<Answer | Choice> {
  if (isLeft) return new Promise(() => undefined);
  return requestCode(link, evidence, picked, () => write('progress-words', word('progress.pending')));
}

/** Goes back to the app with its answer. */
export function leave({ location: url }: Answer): void {
  if (isLeft) return;
  isLeft = true;
  offerCancel(false);
  noteKnown();
  openTabMemory().forget();
  // Back leads to the app then, not to a page that is over.
  location.replace(url);
}

/** Goes back without one: the person does not want to. */
export async function cancel({ link }: Place): Promise<void> {
  if (isLeft) return;
  isLeft = true;
  offerCancel(false);
  show('loading');
  openTabMemory().forget();
  const answer = await requestCancel(link);
  if (answer) return location.replace(answer.location);
  isLeft = false;
  showUnreached(() => location.reload());
}
