/** A child of an element. Text becomes a text node, never markup. */
export type Child = Node | string | null;

/** A new element with attributes (an empty text is a bare attribute) and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for a drawing's parts. */
export function draw<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/** The element with this id. Throws if the page has none of that kind. */
export function byId<T extends Element = HTMLElement>(id: string, kind?: new () => T): T {
  const found = document.getElementById(id);
  if (!found || (kind && !(found instanceof kind))) throw new Error(`the page has no #${id}`);
  return found as unknown as T;
}

/** Replaces the text if it differs, so that screen readers announce only changes. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A list of names and values. */
export function definitions(entries: readonly (readonly [string, Child])[]): HTMLDListElement {
  return make(
    'dl',
    { class: 'facts' },
    ...entries.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))),
  );
}

function fill<T extends Element>(
  element: T,
  attributes: Readonly<Record<string, string>>,
  children: readonly Child[],
): T {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children) if (child !== null) element.append(child);
  return element;
}
