/** The parameters of a query or a form; one without a value counts as absent (RFC 6749 section 3.1). */
export interface Parameters {
  readonly value: (name: string) => string | undefined;
  /** The value as it stands in the text; characters that do not belong in a URL are encoded. */
  readonly raw: (name: string) => string | undefined;
  readonly isTwice: (name: string) => boolean;
  /** The first name that occurs twice. */
  readonly repeated: string | undefined;
}

/** Reads `application/x-www-form-urlencoded`. */
export function readParameters(text: string): Parameters {
  // The ampersand keeps a question mark at the beginning, which would be dropped.
  const pairs = [...new URLSearchParams(`&${text}`)];
  const raws = text.split('&').filter((part) => part !== '');
  const counts = new Map<string, number>();
  for (const [name] of pairs) counts.set(name, (counts.get(name) ?? 0) + 1);
  const isTwice = (name: string) => (counts.get(name) ?? 0) > 1;
  const indexOf = (name: string) => pairs.findIndex(([key, value]) => key === name && value !== '');
  return {
    value: (name) => pairs[indexOf(name)]?.[1],
    raw(name) {
      const text = raws[indexOf(name)];
      return text === undefined ? undefined : urlText(text.slice(text.indexOf('=') + 1));
    },
    isTwice,
    repeated: pairs.find(([name]) => isTwice(name))?.[0],
  };
}

/** Some servers split a query at semicolons too. */
function urlText(raw: string): string {
  return raw.replace(/[^\w.~%+!*'(),:@/?$-]/gu, encodeURIComponent).replaceAll(';', '%3B');
}
