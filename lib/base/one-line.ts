/**
 * A text of others on one line: without control characters, which a terminal would follow, and without characters that
 * turn the direction of others.
 */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ');
}
