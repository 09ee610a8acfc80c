// The parts of a page. Only text is written, never HTML.

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
  heading?.focus();
  say((heading ?? element(part)).textContent?.trim() ?? '');
}

/** The part that is shown. */
export function shownOf<Part extends string>(parts: readonly Part[]): Part | undefined {
  return parts.find((name) => !element(name).hidden);
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
