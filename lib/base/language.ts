/** A language tag in its usual spelling (RFC 5646): `de`, `pt-BR`; undefined for any other text. */
export function languageTag(text: string): string | undefined {
  if (!/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/.test(text)) return undefined;
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}

/** The language that a range finds (RFC 4647 section 3.4): `de-AT`, or `de_AT` as some systems write it, finds `de`. */
export function findLanguage(available: readonly string[], range: string): string | undefined {
  const parts = range.toLowerCase().split(/[-_]/);
  for (let length = parts.length; length > 0; length--) {
    const prefix = parts.slice(0, length).join('-');
    const found = available.find((one) => one.toLowerCase() === prefix);
    if (found !== undefined) return found;
  }
  return undefined;
}
