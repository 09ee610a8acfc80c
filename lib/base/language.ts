/** A language tag in its usual spelling (RFC 5646): `de`, `pt-BR`; undefined for any other text. */
export function languageTag(text: string): string | undefined {
  if (!/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/.test(text)) return undefined;
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}
