// Texts in the languages of people: the form of a catalogue, and how a text gets its values. Pages, mails and apps
// share it.

/** A text with `{places}`, or its forms by the plural rules of its language (CLDR), chosen by the place `count`. */
export type Message = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;

/** Texts by id. */
export type Catalogue = Readonly<Record<string, Message>>;

/** Values for the placeholders of a text. Numbers are formatted in its language. */
export type Values = Readonly<Record<string, string | number>>;

/**
 * The text of a message in a language; a place without a value stays as it is. `around` stands before and behind each
 * text that is a value.
 */
export function fillMessage(
  message: Message,
  values: Values,
  language: string,
  [open, close]: Around = ['', ''],
): string {
  const text = typeof message === 'string' ? message : formOf(message, values['count'], language);
  return text.replace(/\{(\w+)\}/g, (place, name) => {
    const value = values[name];
    if (value === undefined) return place;
    return typeof value === 'number' ? new Intl.NumberFormat(language).format(value) : open + value + close;
  });
}

/** The characters around a value. */
type Around = readonly [open: string, close: string];

/**
 * Isolates for values in text from right to left (Unicode UAX #9): an address or a number keeps its order, and leaves
 * that of the sentence alone.
 */
export const ISOLATES: Around = ['\u2068', '\u2069'];

/**
 * Marks around a text that a catalogue has in English alone: plain text keeps its order, and `englishIn` finds it.
 */
export const ENGLISH: Around = ['\u2066', '\u2069'];

/** The parts of a text at these marks: the second of two is English. Isolates within it stay. */
export function englishIn(text: string): readonly string[] {
  const parts = [''];
  let [depth, began] = [0, 0];
  for (const char of text) {
    if (char >= '\u2066' && char <= '\u2068') depth++;
    const isBegin = began === 0 && char === ENGLISH[0];
    const isEnd = char === ENGLISH[1] && depth-- === began && began > 0;
    if (isBegin) began = depth;
    if (isEnd) began = 0;
    if (isBegin || isEnd) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts;
}

/** The names of the places in a message. */
export function placesOf(message: Message): readonly string[] {
  const forms = typeof message === 'string' ? [message] : Object.values(message);
  const names = forms.flatMap((form) => Array.from(form.matchAll(/\{(\w+)\}/g), ([, name = '']) => name));
  return [...new Set(names)].sort();
}

function formOf(forms: Exclude<Message, string>, count: string | number | undefined, language: string): string {
  const rule = new Intl.PluralRules(language).select(Number(count ?? 0));
  return forms[rule] ?? forms.other ?? '';
}
