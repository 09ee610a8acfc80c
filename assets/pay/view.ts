// The parts of the page. Only text is written, never HTML.
import { ARMING_MS } from './constants.ts';

/** The parts of the page, of which one is shown. */
export type Part = 'loading' | 'setup' | 'review' | 'progress' | 'done' | 'problem';

const PARTS: readonly Part[] = ['loading', 'setup', 'review', 'progress', 'done', 'problem'];

/** The element with this id. Throws if there is none. */
export function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no #${id}`);
  return found;
}

/** Shows one part and moves keyboard and screen reader to its heading. */
export function showPart(part: Part): void {
  for (const name of PARTS) element(name).hidden = name !== part;
  const heading = element(part).querySelector('h1');
  heading?.focus();
  say((heading ?? element(part)).textContent?.trim() ?? '');
}

/** The part that is shown. */
export function shownPart(): Part | undefined {
  return PARTS.find((name) => !element(name).hidden);
}

/** Writes text; undefined hides the element. */
export function write(id: string, text: string | undefined): void {
  element(id).textContent = text ?? '';
  element(id).hidden = text === undefined;
}

/** Shows or hides an element. */
export function toggle(id: string, isShown: boolean): void {
  element(id).hidden = !isShown;
}

/** Announces text to screen readers. */
export function say(text: string): void {
  element('status').textContent = text;
}

/** Lists the warnings; hides an empty list. */
export function writeWarnings(texts: readonly string[]): void {
  const items = texts.map((text) => {
    const item = document.createElement('li');
    item.textContent = text;
    return item;
  });
  element('warnings').replaceChildren(...items);
  toggle('warnings', items.length > 0);
}

/** Marks a step as current and the steps before it as past. */
export function step(current: 'sign' | 'send' | 'block'): void {
  const steps = ['sign', 'send', 'block'];
  for (const [i, name] of steps.entries()) {
    const item = element(`step-${name}`);
    item.classList.toggle('past', i < steps.indexOf(current));
    if (name === current) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  }
  say(element(`step-${current}`).textContent ?? '');
}

/** Calls `act` when the person, not a script, presses the button. Replaces the action before. */
export function onPress(id: string, act: () => void): void {
  element(id).onclick = (event) => {
    if (event.isTrusted) act();
  };
}

/**
 * The same for a button that moves money. It reacts only after the page was visible for `ARMING_MS`, so that a click
 * meant for the screen before cannot hit it. The wait starts again after the page was hidden.
 */
export function onArmedPress(id: string, act: () => void): void {
  const button = element(id) as HTMLButtonElement;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const arm = () => {
    clearTimeout(timer);
    button.disabled = true;
    const isSeen = document.visibilityState === 'visible' && document.hasFocus();
    if (isSeen) timer = setTimeout(() => (button.disabled = false), ARMING_MS);
  };
  document.onvisibilitychange = arm;
  window.onfocus = arm;
  arm();
  onPress(id, () => {
    if (button.disabled) return;
    // Once: a second click must wait until the page offers it again.
    button.disabled = true;
    act();
  });
}
