// The parts of a page. Only text is written, never HTML.
import { inLanguages, word } from '../words/words.ts';

/** The element with this id. Throws if there is none. */
export function element<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no #${id}`);
  return found as Element as T;
}

/** Shows one of the parts and moves keyboard and screen reader to its heading. */
export function showOne<Part extends string>(parts: readonly Part[], part: Part): void {
  for (const name of parts) element(name).hidden = name !== part;
  const heading = element(part).querySelector<HTMLElement>('h1');
  if (heading) {
    heading.tabIndex = -1;
    heading.focus();
  }
  // A heading that has the focus is read already. In the live region too, or as the name of a section, it is read
  // twice.
  say(heading ? '' : (element(part).textContent?.trim() ?? ''));
}

/**
 * Moves the keyboard on to the field that a part begins with; a screen reader still hears the heading. Where fingers
 * point, that would raise a keyboard over the page: there only for what is `always` typed next.
 */
export function beginIn(id: string, always = false): void {
  if (!always && matchMedia('(pointer: coarse)').matches) return;
  const { activeElement: heading } = document;
  if (heading?.tagName === 'H1') say(heading.textContent ?? '');
  field(id).focus();
}

/** The part that is shown. */
export function shownOf<Part extends string>(parts: readonly Part[]): Part | undefined {
  return parts.find((name) => !element(name).hidden);
}

/** Writes text; undefined hides the element. */
export function write(id: string, text: string | undefined): void {
  element(id).replaceChildren(...inLanguages(text ?? ''));
  element(id).hidden = text === undefined;
}

/** Shows or hides an element. */
export function toggle(id: string, isShown: boolean): void {
  element(id).hidden = !isShown;
}

/** Announces text to screen readers. */
export function say(text: string): void {
  element('status').replaceChildren(...inLanguages(text));
}

/** Calls `act` when the person, not a script, presses the button. Replaces the action before. */
export function onPress(id: string, act: () => void): void {
  press(element(id), act);
}

/** The same for an element. */
export function press(button: HTMLElement, act: () => void): void {
  button.onclick = (event) => {
    if (event.isTrusted) act();
  };
}

/**
 * As `onPress`, for a button that has something signed. It reacts only after the page was visible for `ARMING_MS`, so
 * that a click meant for the screen before cannot hit it. The wait starts again after the page was hidden.
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

/** Such a button reacts only after this time, so that a click meant for another window cannot hit it. */
const ARMING_MS = 600;

/** Calls `act` when the person submits the form. */
export function onSubmit(id: string, act: () => void): void {
  element(id).onsubmit = (event) => {
    event.preventDefault();
    if (event.isTrusted) act();
  };
}

/** The field with this id. */
export function field(id: string): HTMLInputElement {
  return element<HTMLInputElement>(id);
}

/** Says below a field what is wrong with it, and goes there; undefined takes it back. */
export function fault(id: string, text: string | undefined, into = `${id}-fault`): void {
  write(into, text);
  const input = field(id);
  if (text === undefined) input.removeAttribute('aria-invalid');
  else {
    input.setAttribute('aria-invalid', 'true');
    input.focus();
  }
}

/**
 * Calls `act` with the code in a field of six digits, with the sixth one that is typed, pasted or filled in by the
 * browser. Everything but digits is removed.
 */
export function onCode(id: string, act: (code: string) => void): void {
  const input = field(id);
  input.oninput = ({ isTrusted }) => {
    const digits = input.value.replace(/\D/g, '').slice(0, CODE_DIGITS);
    if (digits !== input.value) input.value = digits;
    if (digits.length === CODE_DIGITS && isTrusted) act(digits);
  };
}

const CODE_DIGITS = 6;

/** Marks a step of a list as current and the steps before it as past. */
export function step(ids: readonly string[], current: string | undefined): void {
  const at = current === undefined ? ids.length : ids.indexOf(current);
  for (const [i, id] of ids.entries()) {
    element(id).classList.toggle('past', i < at);
    if (i === at) element(id).setAttribute('aria-current', 'step');
    else element(id).removeAttribute('aria-current');
  }
  if (current !== undefined) say(element(current).textContent ?? '');
}

/** An address as people read it: the first six and the last four digits. */
export function short(address: string): string {
  return `${address.slice(0, 8)}…${address.slice(-4)}`;
}

/** Writes an address into an element, short for eyes and whole for readers and the mouse. */
export function writeAddress(target: HTMLElement, address: string): void {
  target.textContent = short(address);
  target.title = address;
  target.setAttribute('role', 'img');
  target.setAttribute('aria-label', address);
}

/**
 * Names the network, unless it is one whose money is real: nobody asks which that is. One that is not known here may be
 * for tests.
 */
export function writeNetwork(
  id: string,
  { chain, chainId }: { readonly chain: string; readonly chainId: number },
): void {
  write(id, MAIN_NETWORKS.includes(chainId) ? undefined : chain);
}

/**
 * Ethereum, Optimism, BNB, Gnosis, Unichain, Polygon, World, Base, Arbitrum, Celo, Avalanche, Ink, Linea, Blast and
 * Scroll.
 */
const MAIN_NETWORKS = [1, 10, 56, 100, 130, 137, 480, 8453, 42161, 42220, 43114, 57073, 59144, 81457, 534352];

/** Copies text when the button is pressed, and says so on it. */
export function copyOnPress(id: string, text: string): void {
  const button = element(id);
  const { words = button.textContent ?? '' } = button.dataset;
  button.dataset['words'] = words;
  button.textContent = words;
  onPress(id, () => {
    navigator.clipboard.writeText(text).then(
      () => write(id, word('copied')),
      () => write(id, word('not_copied')),
    );
  });
}

/** Draws text as a QR code; its encoder is loaded when it is needed. */
export async function drawCode(id: string, text: string): Promise<void> {
  const { draw } = (await import(CODER)) as { draw: (svg: SVGElement, text: string) => void };
  draw(element(id), text);
}

/** A name that the bundler leaves alone. */
const CODER = '/account/qr.js' as string;

/** An element with a class and text or children. */
export function make(tag: string, className: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children.flatMap((child) => (typeof child === 'string' ? inLanguages(child) : child)));
  return made;
}

/** A button that does something. */
export function makeButton(text: string, className: string, act: () => void): HTMLElement {
  const button = make('button', className, text) as HTMLButtonElement;
  button.type = 'button';
  press(button, act);
  return button;
}

/** Whether something thrown has this name. A page in two files has each class of errors twice. */
export function isNamed(thrown: unknown, name: string): boolean {
  return thrown instanceof Error && thrown.name === name;
}
