/** An element as far as the confirm page uses one. */
export interface FakeElement {
  hidden: boolean;
  disabled: boolean;
  textContent: string;
  value: string;
  href: string;
  children: (FakeElement | string)[];
  onclick: ((event: { readonly isTrusted: boolean }) => void) | null;
  [member: string]: unknown;
}

/** A document of the page's markup: each element with an id, and the parts (`section`) that they are in. */
export interface FakeDocument {
  readonly byId: ReadonlyMap<string, FakeElement>;
  readonly parts: readonly string[];
  getElementById(id: string): FakeElement | null;
  createElement(tag: string): FakeElement;
  readonly visibilityState: string;
  hasFocus(): boolean;
  [member: string]: unknown;
}

/** Reads the ids of the markup, and what is hidden at first; says which part is shown from then on. */
export function fakeDocument(html: string, onShown: (part: string) => void): FakeDocument {
  const tags = [...html.matchAll(/<(\w+)([^>]*\sid="?([\w-]+)"?[^>]*)>/g)];
  const byId = new Map(tags.map(([, , attributes = '', id = '']) => [id, fakeElement(/\shidden\b/.test(attributes))]));
  const parts = tags.flatMap(([, tag, , id = '']) => (tag === 'section' ? [id] : []));
  for (const part of parts) {
    let hidden = byId.get(part)?.hidden ?? false;
    const set = (value: boolean) => {
      hidden = value;
      if (!value) onShown(part);
    };
    Object.defineProperty(byId.get(part), 'hidden', { get: () => hidden, set });
  }
  return {
    byId,
    parts,
    getElementById: (id) => byId.get(id) ?? null,
    createElement: () => fakeElement(),
    visibilityState: 'visible',
    hasFocus: () => true,
    // The words of the page are written into it, and there is no text here.
    title: '',
    documentElement: { style: { setProperty: () => undefined } },
    querySelector: () => null,
    querySelectorAll: () => [],
    createTreeWalker: () => ({ nextNode: () => null }),
  };
}

function fakeElement(hidden = false): FakeElement {
  const nothing = () => undefined;
  const own: FakeElement = {
    hidden,
    disabled: false,
    textContent: '',
    value: '',
    href: '',
    children: [],
    onclick: null,
    dataset: {},
    classList: { toggle: nothing, add: nothing, remove: nothing },
    setAttribute: nothing,
    removeAttribute: nothing,
    addEventListener: nothing,
    querySelector: () => null,
    focus: nothing,
    append: (...more: (FakeElement | string)[]) => void own.children.push(...more),
    replaceChildren: (...more: (FakeElement | string)[]) => {
      own.children = more;
    },
  };
  return own;
}

/** All elements below one that can be pressed. */
export function pressable(element: FakeElement): FakeElement[] {
  const below = element.children.flatMap((child) => (typeof child === 'string' ? [] : pressable(child)));
  return element.onclick ? [element, ...below] : below;
}
