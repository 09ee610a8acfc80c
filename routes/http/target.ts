/**
 * Parts of a request's URL, which is neither decoded nor parsed as a whole. Bun hands it over normalised: it has turned
 * `\` into `/` and resolved dot segments, so that `/x/..\metrics` is `/metrics` here.
 */
/** The path of a URL, or of a path itself. */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2);
  if (start < 0) return '/';
  const query = url.indexOf('?', start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}

/** The query of a URL, without its question mark; undefined where there is none. */
export function queryOf(url: string): string | undefined {
  const start = url.indexOf('?');
  if (start < 0) return undefined;
  const hash = url.indexOf('#', start);
  return hash < 0 ? url.slice(start + 1) : url.slice(start + 1, hash);
}
