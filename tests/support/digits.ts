// Codes are drawn, so that a fixed one is right at times, and the digits of one stand within longer numbers at times.

/** A code of six digits that is none of these. */
export function otherCode(...codes: readonly (string | undefined)[]): string {
  for (let n = 0; ; n++) {
    const code = String(n).padStart(6, '0');
    if (!codes.includes(code)) return code;
  }
}

/** Whether these digits stand in a text by themselves: not within a longer number, nor within hex or base64. */
export function standsIn(text: string, digits: string): boolean {
  return new RegExp(`(?<![\\w.])${digits}(?!\\w)`).test(text);
}
