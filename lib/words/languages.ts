import { findLanguage } from '../base/language.ts';

/** The languages that the vault brings along. */
export const BUILT_IN = ['en', 'de', 'fr', 'es'] as const;

/** The longest `Accept-Language` that is read, in characters. */
const HEADER_CHARS_MAX = 1_000;

/**
 * The language for a person: the one that is asked for, else the first that `Accept-Language` names (RFC 4647 section
 * 3.4: `de-AT` finds `de`), else the first of all.
 */
export function chooseLanguage(
  available: readonly string[],
  { wanted, accept }: { readonly wanted?: string | undefined; readonly accept?: string | null },
): string {
  const ranges = [...(wanted === undefined ? [] : [wanted]), ...rangesOf(accept ?? '')];
  for (const range of ranges) {
    const found = findLanguage(available, range);
    if (found !== undefined) return found;
  }
  return available[0] ?? 'en';
}

/** How the language is written: from right to left, or from left to right. */
export function directionOf(language: string): 'ltr' | 'rtl' {
  const { language: name, script } = new Intl.Locale(language).maximize();
  return RIGHT_TO_LEFT.includes(script ?? '') || name === 'yi' ? 'rtl' : 'ltr';
}

const RIGHT_TO_LEFT = ['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm', 'Rohg'];

/** The ranges of the header, those with the greatest weight first; `*` and those with weight 0 are left out. */
function rangesOf(header: string): readonly string[] {
  const parts = header.slice(0, HEADER_CHARS_MAX).split(',');
  const weighted = parts.map((part) => {
    const [range = '', weight] = part.trim().split(/\s*;\s*q\s*=\s*/i);
    return { range, weight: weight === undefined ? 1 : Number(weight) };
  });
  const wanted = weighted.filter(({ range, weight }) => range !== '' && range !== '*' && weight > 0);
  return wanted.sort((a, b) => b.weight - a.weight).map(({ range }) => range);
}
