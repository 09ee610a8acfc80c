// The words of a page in the person's language, by their ids in the catalogues beside, and the brand. Words and brand
// are text, never HTML.
import { type Catalogue, ENGLISH, englishIn, fillMessage, ISOLATES, type Values } from '../../client/catalogue.ts';
import type account from './en/account.json';
import type approve from './en/approve.json';
import type authorize from './en/authorize.json';
import type landing from './en/landing.json';
import type pay from './en/pay.json';

/** A word's id: one of a page's English catalogue. Ids of problems may be put together. */
export type WordId =
  | keyof typeof account
  | keyof typeof landing
  | keyof typeof pay
  | keyof typeof approve
  | keyof typeof authorize
  | `${string}.${'title' | 'text'}`;

/** The service's brand, as people see it. */
export interface PageBrand {
  readonly name: string;
  /** Where its logo is. */
  readonly logo: string | null;
  readonly color: { readonly light: string; readonly dark: string } | null;
  /** The mail address of support. */
  readonly support: string | null;
}

/** The answer of `GET /words/<page>.json`. */
interface Loaded {
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  readonly brand: PageBrand;
  readonly words: Catalogue;
  /** The ids whose text is English in another language's catalogue. */
  readonly english: readonly string[];
}

/** A page in two files has this module twice, and its words once. */
interface Own {
  words: Catalogue;
  english: readonly string[];
  language: string;
  app: { readonly app?: string };
  around: typeof ISOLATES | undefined;
}
const shared = globalThis as { vaultWords?: Own };
shared.vaultWords ??= { words: {}, english: [], language: 'en', app: {}, around: undefined };
const own = shared.vaultWords;

/** Longer than this no page waits for its words: on a slow mobile network they take ten seconds. */
const WORDS_MS = 20_000;

/**
 * Writes words and brand into the page, by `lang` and `app` of its query; a page whose link names the app otherwise
 * gives it, and the languages that come before the browser's. Says whether it got them; never throws.
 */
export async function loadWords(page: string, app?: string, languages?: readonly string[]): Promise<boolean> {
  const given = new URLSearchParams(location.search);
  const named = app ?? given.get('app');
  own.app = named ? { app: named } : {};
  const query = new URLSearchParams({ lang: languages ? '' : (given.get('lang') ?? ''), ...own.app });
  const headers: HeadersInit = languages?.length
    ? { 'accept-language': [...languages, ...navigator.languages].join(',') }
    : {};
  try {
    const answer = await fetch(`/words/${page}.json?${query}`, { headers, signal: AbortSignal.timeout(WORDS_MS) });
    if (!answer.ok) return false;
    const loaded = (await answer.json()) as Loaded;
    own.words = loaded.words;
    own.english = loaded.english;
    own.language = loaded.lang;
    own.around = loaded.dir === 'rtl' ? ISOLATES : undefined;
    document.documentElement.lang = loaded.lang;
    document.documentElement.dir = loaded.dir;
    translate();
    dress(loaded.brand);
    return true;
  } catch {
    return false;
  }
}

/** The app whose brand the page has, for requests. */
export function appOfPage(): { readonly app?: string } {
  return own.app;
}

/**
 * A text of the page in the person's language, its `{places}` filled. A name that is kept has nothing `around` the
 * values, and no marks.
 */
export function word(id: WordId, values: Values = {}, around = own.around): string {
  const message = own.words[id] ?? id;
  if (around !== own.around || !own.english.includes(id)) return fillMessage(message, values, own.language, around);
  const [open, close] = ENGLISH;
  return open + fillMessage(message, values, 'en', around) + close;
}

/** A text for the page: English in a page of another language is an element marked as such. */
export function inLanguages(text: string): (Node | string)[] {
  return englishIn(text).map((part, i) => (i % 2 === 0 ? part : english(part)));
}

function english(...parts: readonly (Node | string)[]): HTMLElement {
  const span = document.createElement('span');
  span.lang = 'en';
  span.dir = 'ltr';
  span.append(...parts);
  return span;
}

/** The same with elements in its places; `values` are for the others. */
export function wordWith(id: WordId, nodes: Readonly<Record<string, Node>>, values: Values = {}): (Node | string)[] {
  const message = own.words[id] ?? id;
  const pieces = (typeof message === 'string' ? message : id).split(/(\{\w+\})/);
  const parts = pieces.map(
    (piece) => nodes[piece.slice(1, -1)] ?? fillMessage(piece, values, own.language, own.around),
  );
  return own.english.includes(id) ? [english(...parts)] : parts;
}

/** The language for dates and numbers: that of the words, in the browser's variety of it. */
export function spoken(): string {
  const isSame = (one: string) => one.split('-')[0] === own.language.split('-')[0];
  return globalThis.navigator?.languages?.find(isSame) ?? own.language;
}

/**
 * A decimal text with the signs of the language: `1234.5` is `1.234,5` in German. Its digits stay, as amounts are
 * copied.
 */
export function decimal(text: string): string {
  const [whole = '0', fraction] = text.split('.');
  const numbers = new Intl.NumberFormat(spoken(), { numberingSystem: 'latn' });
  if (fraction === undefined) return numbers.format(BigInt(whole));
  const sign = numbers.formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.';
  return numbers.format(BigInt(whole)) + sign + fraction;
}

/** Writes the brand into the page: its name, logo and colours, and where support is. */
function dress({ name, logo, color, support }: PageBrand): void {
  const [title = ''] = document.title.split(' · ');
  document.title = `${title} · ${name}`;
  for (const one of document.querySelectorAll('.brand')) one.textContent = name;
  if (logo !== null) {
    document.querySelector('header img')?.setAttribute('src', logo);
    document.querySelector('[rel=icon]')?.setAttribute('href', logo);
  }
  const { style } = document.documentElement;
  if (color) {
    style.setProperty('--accent', `light-dark(${color.light}, ${color.dark})`);
    style.setProperty('--accent-soft', 'color-mix(in srgb, var(--accent) 14%, var(--surface))');
  }
  const place = document.querySelector<HTMLElement>('[data-support]');
  if (!place || support === null) return;
  const link = document.createElement('a');
  link.href = `mailto:${support}`;
  link.textContent = support;
  place.append(link);
  place.hidden = false;
}

/** Translates what stands in the page. */
function translate(): void {
  for (const one of document.querySelectorAll<HTMLElement>('[data-w]')) fillIn(one);
  for (const one of document.querySelectorAll<HTMLElement>('[data-w-label]'))
    one.setAttribute('aria-label', word(one.dataset['wLabel'] as WordId));
}

/** Places of elements inside are `{0}`, `{1}`: another language may have them elsewhere. */
function fillIn(one: HTMLElement): void {
  const id = one.dataset['w'] as WordId;
  // A title has no elements.
  if (one instanceof HTMLTitleElement) one.text = englishIn(word(id)).join('');
  else one.replaceChildren(...wordWith(id, Object.fromEntries([...one.children].entries())));
}
