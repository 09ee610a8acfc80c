// As much of a document as the confirm page uses, without a browser: what stands in it, what is hidden, what is pressed.

/** A press, as the page hears it. */
export interface Press {
  /** By the person; a script's own is not. */
  readonly isTrusted: boolean;
  preventDefault(): void;
}

/** An element as far as the confirm page uses one. */
export interface FakeElement {
  readonly tag: string;
  /** Of what stands in the markup. */
  parent?: FakeElement;
  hidden: boolean;
  disabled: boolean;
  textContent: string;
  className: string;
  value: string;
  href: string;
  children: FakeNode[];
  onclick: ((event: Press) => void) | null;
  getAttribute(name: string): string | null;
  [member: string]: unknown;
}

type FakeNode = FakeElement | string;

/** A document of the page's markup. */
export interface FakeDocument {
  readonly byId: ReadonlyMap<string, FakeElement>;
  /** The parts of which one is shown (`section`). */
  readonly parts: readonly string[];
  getElementById(id: string): FakeElement | null;
  createElement(tag: string): FakeElement;
  /** The element that has the focus. */
  activeElement: FakeElement | undefined;
  visibilityState: string;
  hasFocus(): boolean;
  onvisibilitychange: (() => void) | null;
  [member: string]: unknown;
}

/** Reads the markup; says which part is shown from then on. */
export function fakeDocument(html: string, onShown: (part: string) => void): FakeDocument {
  const byId = new Map<string, FakeElement>();
  const made = (tag: string, attributes: ReadonlyMap<string, string> = new Map()) => {
    const element = fakeElement(tag, new Map(attributes), () => {
      document.activeElement = element;
    });
    const id = attributes.get('id');
    if (id !== undefined) byId.set(id, element);
    return element;
  };
  const document: FakeDocument = {
    byId,
    parts: [],
    body: readMarkup(html.slice(html.indexOf('<body')), made),
    getElementById: (id) => byId.get(id) ?? null,
    createElement: (tag) => made(tag),
    activeElement: undefined,
    visibilityState: 'visible',
    hasFocus: () => true,
    onvisibilitychange: null,
    // The markup is English, and so are the words of these windows: nothing is looked for to be translated.
    title: '',
    documentElement: { style: { setProperty: () => undefined } },
    querySelector: () => null,
    querySelectorAll: () => [],
    createTreeWalker: () => ({ nextNode: () => null }),
  };
  const parts = [...byId].filter(([, { tag }]) => tag === 'section');
  for (const [id, part] of parts) watchHidden(part, () => onShown(id));
  return Object.assign(document, { parts: parts.map(([id]) => id) });
}

function watchHidden(part: FakeElement, onShown: () => void): void {
  let { hidden } = part;
  const set = (value: boolean) => {
    hidden = value;
    if (!value) onShown();
  };
  Object.defineProperty(part, 'hidden', { get: () => hidden, set });
}

/** The tree of the markup. Texts stay as they stand: the page has no entities. */
function readMarkup(html: string, made: (tag: string, attributes: Map<string, string>) => FakeElement): FakeElement {
  const root = made('body', new Map());
  const open = [root];
  for (const [whole, end, tag = '', inside = ''] of html.matchAll(
    /<(\/?)(\w+)((?:"[^"]*"|[^>"])*)>|[^<]+|<!--.*?-->/gs,
  )) {
    const around = open.at(-1) ?? root;
    if (tag === '') around.children.push(whole);
    else if (end === '/') {
      if (open.length > 1) open.pop();
    } else if (tag !== 'body') {
      const pairs = inside.matchAll(/([\w-]+)(?:="([^"]*)"|=([^\s"/]+))?/g);
      const element = made(
        tag,
        new Map(Array.from(pairs, ([, name = '', quoted, bare]) => [name, quoted ?? bare ?? ''])),
      );
      element.parent = around;
      around.children.push(element);
      if (!EMPTY.has(tag) && !inside.endsWith('/')) open.push(element);
    }
  }
  return root;
}

const EMPTY = new Set(['img', 'input', 'br', 'meta', 'link']);

function fakeElement(tag: string, attributes: Map<string, string>, onFocus: () => void): FakeElement {
  const nothing = () => undefined;
  const classes = () => new Set(own.className.split(' ').filter(Boolean));
  const own: FakeElement = {
    tag,
    id: attributes.get('id') ?? '',
    hidden: attributes.has('hidden'),
    disabled: false,
    className: attributes.get('class') ?? '',
    value: '',
    href: '',
    children: [],
    onclick: null,
    dataset: {},
    get textContent(): string {
      return own.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join('');
    },
    set textContent(text: string) {
      own.children = text === '' ? [] : [text];
    },
    classList: {
      toggle(name: string, isOn: boolean) {
        const all = classes();
        if (isOn) all.add(name);
        else all.delete(name);
        own.className = [...all].join(' ');
      },
    },
    getAttribute: (name) => attributes.get(name) ?? null,
    setAttribute: (name: string, value: string) => void attributes.set(name, value),
    removeAttribute: (name: string) => void attributes.delete(name),
    addEventListener: nothing,
    querySelector: (wanted: string) => elementsIn(own).find((one) => one.tag === wanted) ?? null,
    focus: onFocus,
    append: (...more: FakeNode[]) => void own.children.push(...more),
    replaceChildren: (...more: FakeNode[]) => {
      own.children = more;
    },
  };
  return own;
}

/** All elements below one, in order. */
export function elementsIn({ children }: FakeElement): FakeElement[] {
  return children.flatMap((child) => (typeof child === 'string' ? [] : [child, ...elementsIn(child)]));
}

/** Whether it can be seen. */
export function isShown({ hidden, parent }: FakeElement): boolean {
  return !hidden && (parent === undefined || isShown(parent));
}

/** All elements below one that can be pressed. */
export function pressable(element: FakeElement): FakeElement[] {
  return elementsIn(element).filter(({ onclick }) => onclick !== null);
}

/** What a person reads of it: nothing of what is hidden, and blocks on lines of their own. */
export function readText(element: FakeElement): string {
  return rawText(element)
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}

function rawText({ tag, hidden, children }: FakeElement): string {
  if (hidden) return '';
  const inside = children.map((child) => (typeof child === 'string' ? child.replace(/\s+/g, ' ') : rawText(child)));
  return INLINE.has(tag) ? inside.join('') : `\n${inside.join('')}\n`;
}

const INLINE = new Set(['span', 'bdi', 'strong', 'a']);
