/** What a request asks for, taken from its URL as sent: neither decoded nor collapsed, and never parsed as a whole. */
import { badRequest } from '../../lib/base/error.ts';

/**
 * Throws 400 for a `Host` that is no name or address with an optional port. HTTP/1.0 may leave it out: the URL that
 * Bun gives is the bare path then, and under many a wrong `Host` too.
 */
export function checkHost(request: Request): void {
  const host = request.headers.get('host');
  if (host !== null && !HOST.test(host)) throw badRequest('Invalid Host header');
}

/** The path of a URL, or of what is a path itself. */
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

/** `uri-host [":" port]` (RFC 9110, section 7.2). Two headers come joined by a comma and a space, which it refuses. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;
