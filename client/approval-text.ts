/** Why a text cannot be approved. `hidden`: some of it is not seen, or moves other letters; `data`: it is no prose. */
export type TextFault = 'empty' | 'long' | 'hidden' | 'data';

/** The longest text, in UTF-16 units, and its most lines: a person reads all of it. */
export const TEXT_CHARS_MAX = 1_000;
const LINES_MAX = 20;

/**
 * What is wrong with a text that a person shall read and sign; undefined if nothing is. Nothing is mended, so
 * that each sign that was shown is signed.
 */
export function faultOfText(text: unknown): TextFault | undefined {
  if (typeof text !== 'string' || text === '') return 'empty';
  if (text.length > TEXT_CHARS_MAX || text.split('\n').length > LINES_MAX) return 'long';
  if (HIDDEN.test(text) || text !== text.trim() || text !== text.normalize('NFC')) return 'hidden';
  if (DATA.test(text) || isJson(text)) return 'data';
  return undefined;
}

/**
 * Controls but the line break, marks of direction, all that is invisible (`\p{DI}`), half characters, towers of
 * accents, and blanks by which something is moved out of sight.
 */
const HIDDEN = /(?!\n)[\p{C}\p{DI}\p{Zl}\p{Zp}\u2800]|\p{M}{3}|\p{Zs}{2}|\p{Zs}\n|\n\p{Zs}|\n{3}/u;

/** A hash, a key, call data, a token: longer than the words and addresses that people compare. */
const DATA = /[0-9a-f]{41}|[!-~]{65}/i;

/** Typed data, a transaction or a policy, written out. */
function isJson(text: string): boolean {
  if (!/^[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
