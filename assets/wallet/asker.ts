// The asker of a page, and where the answer may go.
import { fromBase64url } from '../../client/wallet/bytes.ts';
import { make } from './view.ts';

/** The sender of a request. For `link` the origin is only where the answer goes, because anyone can make a link. */
export interface Asker {
  readonly via: 'browser' | 'opener' | 'link';
  readonly origin: string;
  /** The frame that asked, where it is another origin than the page around it. */
  readonly frame: string | undefined;
}

/**
 * The host of the page or frame that asks, as the browser vouches for it: in ASCII, so that no letter looks like
 * another, with its port if that is not the usual one. Nobody vouches for a link.
 */
export function vouchedHost({ via, origin, frame }: Asker): string | undefined {
  return via === 'link' ? undefined : new URL(frame ?? origin).host;
}

/** A host from left to right in every language: another order would show another one. */
export function hostNode(host: string): HTMLElement {
  const node = make('bdi', '', host);
  node.dir = 'ltr';
  return node;
}

/** An origin for display, without `https://`. */
export function hostOf(origin: string): string {
  return origin.replace(/^https:\/\//, '');
}

/** The longest address that an answer may go to. */
const URL_CHARS_MAX = 2_048;

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

/** A bare origin of https, or of loopback. */
export function isPlace(origin: string): boolean {
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) return false;
  const { protocol, hostname } = new URL(origin);
  const isLoopback = /^(?:localhost|(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}
