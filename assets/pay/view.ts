// The parts of the page. Only text is written, never HTML.
import { element, make, step as markStep, shownOf, showOne, toggle, write } from '../wallet/view.ts';

export { beginIn, element, isNamed, onArmedPress, onPress, toggle, write, writeNetwork } from '../wallet/view.ts';

/** The parts of the page; one is shown at a time. */
export type Part = (typeof PARTS)[number];

const PARTS = ['loading', 'setup', 'new', 'review', 'funds', 'progress', 'pending', 'done', 'problem'] as const;

/** Shows one part and moves keyboard and screen reader to its heading. */
export function showPart(part: Part): void {
  showOne(PARTS, part);
}

/** The part that is shown. */
export function shownPart(): Part | undefined {
  return shownOf(PARTS);
}

/** Lists the warnings; hides an empty list. */
export function writeWarnings(texts: readonly string[]): void {
  element('warnings').replaceChildren(...texts.map((text) => make('li', 'notice', text)));
  toggle('warnings', texts.length > 0);
}

/** Writes what stands folded below a part's words; undefined hides it. */
export function writeDetail(part: 'pending' | 'problem', text: string | undefined): void {
  write(`${part}-detail`, text);
  toggle(`${part}-more`, text !== undefined);
}

/** Writes an amount as the heading's; a long one is smaller, because a part of it would be another amount. */
export function writeAmount(id: 'amount' | 'progress-amount' | 'paid-amount', text: string): void {
  write(id, text);
  element(id).classList.toggle('long', text.length > 12);
}

/** Marks a step as current and the steps before it as past. */
export function step(current: 'sign' | 'send' | 'block'): void {
  markStep(['step-sign', 'step-send', 'step-block'], `step-${current}`);
}
