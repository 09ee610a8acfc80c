// The parts of the page. Only text is written, never HTML.
import { field, shownOf, showOne, write } from '../wallet/view.ts';

export {
  beginIn,
  element,
  fault,
  field,
  make,
  makeButton,
  onCode,
  onPress,
  onSubmit,
  press,
  say,
  step,
  toggle,
  write,
  writeNetwork,
} from '../wallet/view.ts';

/** The screens of the page; one is shown at a time. */
const PARTS = [
  'loading',
  'start',
  'home',
  'pick',
  'qr',
  'join',
  'key',
  'mail',
  'delay',
  'which',
  'renew',
  'waiting',
  'confirm',
  'progress',
  'done',
  'take',
  'statement',
  'problem',
] as const;

/** A screen. */
export type Part = (typeof PARTS)[number];

/** Shows one screen and moves keyboard and screen reader to its heading. */
export function show(part: Part): void {
  showOne(PARTS, part);
  scrollTo(0, 0);
}

/** The screen while something is read. */
export function loading(words: string): void {
  write('loading-words', words);
  show('loading');
}

/** The screen that is shown. */
export function shown(): Part | undefined {
  return shownOf(PARTS);
}

/** The text of a field, trimmed. */
export function textIn(id: string): string {
  return field(id).value.trim();
}

/** Fills a field. */
export function fill(id: string, text: string): void {
  field(id).value = text;
}
