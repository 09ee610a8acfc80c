// A link's request, where its answer may go, and when it ends.
import { utf8 } from '../../client/bytes.ts';
import { fromBase64url, toHex } from '../../client/wallet/bytes.ts';
import { LINKS_MAX, REQUEST_MS, URL_CHARS_MAX } from './constants.ts';

/** A URL that may receive an answer: https, or http on loopback. Undefined for others, such as `javascript:`. */
export function readReturnUrl(value: unknown): URL | undefined {
  if (typeof value !== 'string' || value.length > URL_CHARS_MAX || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  // The origin of `blob:https://shop.example/…` is the shop's, but the blob may hold any page.
  const isBare = url.protocol !== 'blob:' && url.username === '' && url.password === '';
  return isPlace(url.origin) && isBare ? url : undefined;
}

/** The JSON object in a link; empty if it is invalid. */
export function parseLink(request: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(fromBase64url(request))) as unknown;
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

/**
 * When a link ends: counted from its first opening on this device, which a reload does not change. A link that never
 * was opened here, or a browser that stores nothing, starts now.
 */
export async function endOfLink(request: string): Promise<number> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(request)));
  const [key, now] = [toHex(hash.subarray(0, 16)), Date.now()];
  let openedAt = now;
  try {
    const known = JSON.parse(localStorage.getItem('vault-links') ?? '[]') as readonly [string, number][];
    // A clock that was turned back lengthens nothing.
    openedAt = Math.min(now, new Map(known).get(key) ?? now);
    const others = known.filter(([name]) => name !== key).slice(0, LINKS_MAX);
    localStorage.setItem('vault-links', JSON.stringify([[key, openedAt], ...others]));
  } catch {
    // Then it starts now.
  }
  return openedAt + REQUEST_MS;
}

/** A bare origin of https, or of loopback. */
export function isPlace(origin: string): boolean {
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) return false;
  const { protocol, hostname } = new URL(origin);
  const isLoopback = /^(?:localhost|(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}
