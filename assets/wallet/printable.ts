/** The longest text of a page that asks. */
const CHARS_MAX = 80;

/**
 * A stranger's text without characters that are invisible or that turn, cover or push away the text beside it:
 * controls, marks of direction, towers of accents. Blanks of all kinds and line breaks become one space.
 */
export function printable(text: string, max = CHARS_MAX): string {
  return text
    .toWellFormed()
    .replace(/(?!\s)[\p{C}\p{DI}]/gu, '')
    .replace(/[\s\u2800]+/g, ' ')
    .replace(/(\p{M}{2})\p{M}+/gu, '$1')
    .slice(0, max)
    .trim();
}
