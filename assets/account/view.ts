// The parts of the page. Only text is written, never HTML.

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

/** The element with this id. Throws if there is none. */
export function element<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no #${id}`);
  return found as Element as T;
}

/** Shows one screen and moves keyboard and screen reader to its heading. */
export function show(part: Part): void {
  for (const name of PARTS) element(name).hidden = name !== part;
  const heading = element(part).querySelector<HTMLElement>('h1');
  heading?.focus();
  scrollTo(0, 0);
  say((heading ?? element(part)).textContent?.trim() ?? '');
}

/** The screen while something is read. */
export function loading(words: string): void {
  write('loading-words', words);
  show('loading');
}

/** The screen that is shown. */
export function shown(): Part | undefined {
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

/** An element with a class and text or children. */
export function make(tag: string, className: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

/** A button that does something. */
export function makeButton(text: string, className: string, act: () => void): HTMLElement {
  const button = make('button', className, text) as HTMLButtonElement;
  button.type = 'button';
  press(button, act);
  return button;
}
