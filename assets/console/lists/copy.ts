import { make } from '../dom.ts';
import { formatValue } from '../format.ts';

/** A long value in one line: its beginning and its end, whole for screen readers and on hover, with a copy button. */
export function copyable(value: string, name: string, href?: string): HTMLElement {
  const button = make('button', { type: 'button', class: 'quiet', 'aria-label': `Copy ${name}` }, 'Copy');
  button.addEventListener('click', () => void copyTo(button, value));
  return make('span', { class: 'copyable' }, shortened(value), button, explorerLink(name, href));
}

/** A link to a page of the explorer; null without one. */
export function explorerLink(name: string, href: string | undefined): HTMLElement | null {
  if (href === undefined) return null;
  const label = `${name} in the explorer`;
  return make('a', { href, target: '_blank', rel: 'noopener noreferrer', 'aria-label': label }, 'Explorer');
}

/** The beginning and the end of a long value; screen readers and the pointer get the whole. */
export function shortened(value: string): HTMLElement {
  const whole = formatValue(value);
  if (whole.length <= SHOWN_MAX) return make('span', { class: 'one-line' }, whole);
  const short = `${whole.slice(0, SHOWN_FIRST)}…${whole.slice(-SHOWN_LAST)}`;
  return make(
    'span',
    { class: 'one-line', title: whole },
    make('span', { 'aria-hidden': 'true' }, short),
    make('span', { class: 'sr' }, whole),
  );
}

const SHOWN_MAX = 24;
const SHOWN_FIRST = 10;
const SHOWN_LAST = 6;
const SAID_MS = 1_500;

/** Copies a text; the button says so for a moment. */
export async function copyTo(button: HTMLElement, text: string): Promise<void> {
  const label = button.textContent;
  const isCopied = await copy(text);
  button.textContent = isCopied ? 'Copied' : 'Not copied';
  button.setAttribute('aria-live', 'polite');
  setTimeout(() => {
    button.textContent = label;
  }, SAID_MS);
}

/** Copies a text. A page of plain http on another host than this has no clipboard: there a field is copied. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = make('textarea', { class: 'sr', 'aria-hidden': 'true' });
    field.value = text;
    (document.querySelector('dialog[open]') ?? document.body).append(field);
    field.select();
    const isCopied = document.execCommand('copy');
    field.remove();
    return isCopied;
  }
}
