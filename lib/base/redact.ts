/** Removes secret texts from a JSON value. */
export type Redact = (value: unknown) => unknown;

/** Removes an endpoint's host, and any part of its path or query that may be a key, from its answers. */
export function createRedact(url: string): Redact {
  const { host, hostname, pathname, searchParams } = new URL(url);
  const hosts = [host, hostname].filter((name) => /[.:]/.test(name));
  const named = [...searchParams]
    .filter(([name]) => /key|token|secret|auth|pass/i.test(name))
    .map(([, value]) => value);
  const keys = [...pathname.split('/').map(decode), ...searchParams.values()].filter(isKeyLike);
  const texts = [...hosts, ...keys, ...named.filter((value) => value.length >= NAMED_KEY_CHARS_MIN)];
  if (texts.length === 0) return (value) => value;
  const escaped = [...texts, ...texts.map(encodeURIComponent)].map((text) => JSON.stringify(text).slice(1, -1));
  const pattern = new RegExp(escaped.map((text) => text.replace(/\W/g, '\\$&')).join('|'), 'gi');
  return (value) => strike(pattern, value);
}

/** Removes every URL. */
export const redactUrls: Redact = (value) => strike(/[a-z][a-z0-9+.-]*:\/\/[^\s"\\<>]*/gi, value);

const NAMED_KEY_CHARS_MIN = 6;

/** Long enough for a key, and neither a number nor words, which replies may contain for other reasons. */
function isKeyLike(part: string): boolean {
  return part.length >= 12 && !/^\d+$|^[a-z]+(?:[-_][a-z]+)*$/i.test(part.slice(0, 32));
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Works on the JSON text, whose escapes are the serializer's own, so that no escape of the upstream can hide a key. */
function strike(pattern: RegExp, value: unknown): unknown {
  const text = JSON.stringify(value);
  const struck = text.replace(pattern, '…');
  return struck === text ? value : JSON.parse(struck);
}
