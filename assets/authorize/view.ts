// The parts of the page. Only text is written, never HTML.
import { element, showOne, write } from '../wallet/view.ts';
import { type WordId, word } from '../words/words.ts';

export { beginIn, element, fault, field, onCode, onPress, onSubmit, step, toggle, write } from '../wallet/view.ts';

/** The screens of the page; one is shown at a time. */
const PARTS = ['loading', 'start', 'owned', 'code', 'passkey', 'give', 'add', 'progress', 'problem'] as const;

/** A screen. */
export type Part = (typeof PARTS)[number];

/** The screens that a person can leave for the app; the others leave by themselves. */
const LEAVABLE: readonly Part[] = ['start', 'owned', 'code', 'passkey', 'give', 'add', 'problem'];
let isCancelOffered = false;

/** Shows or hides the way back below the screens. */
export function offerCancel(isOffered: boolean): void {
  isCancelOffered = isOffered;
}

/** Shows one screen and moves keyboard and screen reader to its heading. */
export function show(part: Part): void {
  showOne(PARTS, part);
  element('cancel').hidden = !(isCancelOffered && LEAVABLE.includes(part));
  scrollTo(0, 0);
}

/** Writes words of the page into elements, by the elements' ids. */
export function say(texts: Readonly<Record<string, WordId>>, values: Readonly<Record<string, string>> = {}): void {
  for (const [id, wordId] of Object.entries(texts)) write(id, word(wordId, values));
}

/** Time left, `0:42`. */
export function left(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
