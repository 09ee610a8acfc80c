// The parts of the page. Only text is written, never HTML.
import { element, shownOf, showOne, write } from '../wallet/view.ts';

export { element, make, makeButton, onPress, press, say, step, toggle, write } from '../wallet/view.ts';

/** The screens of the page, of which one is shown. */
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

/** Calls `act` when the person submits the form. */
export function onSubmit(id: string, act: () => void): void {
  element(id).onsubmit = (event) => {
    event.preventDefault();
    if (event.isTrusted) act();
  };
}

/** The text of a field, trimmed. */
export function textIn(id: string): string {
  return element<HTMLInputElement>(id).value.trim();
}

/** Fills a field. */
export function fill(id: string, text: string): void {
  element<HTMLInputElement>(id).value = text;
}

/** Says below a field what is wrong with it, and goes there; undefined takes it back. */
export function fault(field: string, text: string | undefined, into = `${field}-fault`): void {
  write(into, text);
  const input = element(field);
  if (text === undefined) input.removeAttribute('aria-invalid');
  else {
    input.setAttribute('aria-invalid', 'true');
    input.focus();
  }
}
