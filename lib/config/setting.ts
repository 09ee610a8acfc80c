/** Settings by variable name, as text. */
export type Vars = Readonly<Record<string, string | undefined>>;

/** A setting's value, or why its text is refused: words that complete "NAME …" and never repeat the text. */
export type Reading<T> = { readonly value: T } | { readonly problem: string };

/** Reads a setting's text; undefined is an unset setting. A function, since a start makes one for each setting. */
export type Parser<T> = (text: string | undefined) => Reading<T>;

/** One setting. Its flag, its line of `vault config` and its row of docs/settings.md follow from it. */
export interface Setting<T = unknown> extends Facts {
  readonly meaning: string;
  readonly parser: Parser<T>;
  readonly default?: Default;
  /** A secret has no flag and is never shown. An endpoint's URL may hold a key, so only its origin is shown. */
  readonly kind: 'plain' | 'secret' | 'endpoint';
}

/** Further facts of one setting; other settings are named by their variables. */
export interface Facts {
  /** A value for `vault help settings`, where the default is not one. A real secret never stands here. */
  readonly example?: string;
  /** The setting without which this one has no effect. */
  readonly needs?: string;
  /** The setting that must be set with this one. */
  readonly requires?: string;
  /** How to get a value, where it must be set; otherwise its example is shown. */
  readonly remedy?: string;
}

/** A default: a text, or a function of the settings above it. */
export type Default = string | Derived;

interface Derived {
  readonly words: string;
  readonly from: (vars: Vars) => string | undefined;
}

/** A setting that is shown in full. */
export function plain<T>(meaning: string, parser: Parser<T>, fallback?: Default, facts?: Facts): Setting<T> {
  return setting('plain', meaning, parser, fallback, facts);
}

/** A secret: no flag, never printed. */
export function secret<T>(meaning: string, parser: Parser<T>, fallback?: Default, facts?: Facts): Setting<T> {
  return setting('secret', meaning, parser, fallback, facts);
}

/** A URL that may contain a key: only its origin is printed. */
export function endpoint<T>(meaning: string, parser: Parser<T>, fallback?: Default, facts?: Facts): Setting<T> {
  return setting('endpoint', meaning, parser, fallback, facts);
}

/** A default that is derived from the settings above; `words` describe it in the documents. */
export function derived(words: string, from: Derived['from'] = () => undefined): Derived {
  return { words, from };
}

/** The text with secrets masked and endpoints cut to their origin. */
export function maskSetting({ kind }: Setting, text: string): string {
  if (kind === 'plain') return text;
  if (kind === 'secret') return '(secret)';
  if (/^file:/i.test(text) || !URL.canParse(text)) return /^file:/i.test(text) ? text : '(not a URL)';
  const { protocol, host, pathname, search } = new URL(text);
  return `${protocol}//${host}${pathname.length > 1 || search !== '' ? '/…' : ''}`;
}

/** An example of a setting, or its default where that is a value; undefined where neither can be written down. */
export function exampleOf({ example, default: fallback }: Setting): string | undefined {
  return example ?? (typeof fallback === 'string' && fallback !== '' ? fallback : undefined);
}

function setting<T>(
  kind: Setting['kind'],
  meaning: string,
  parser: Parser<T>,
  fallback: Default | undefined,
  facts: Facts | undefined,
): Setting<T> {
  return { meaning, parser, kind, ...(fallback === undefined ? {} : { default: fallback }), ...facts };
}
