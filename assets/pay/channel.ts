// How a request comes in and its answer goes out: the payment handler's worker, the window that opened this one, or a
// link.

import { fromBase64url, toBase64url, toHex } from '../wallet/bytes.ts';
import { CHANNEL_MS, LINKS_MAX, REQUEST_MS, URL_CHARS_MAX } from './constants.ts';
import type { Asked, Asker } from './request.ts';

/** The receipt that the shop gets for a payment in a block. */
export interface Details {
  readonly userOpHash: string;
  readonly txHash: string;
  readonly chainId: number;
  readonly account: string;
  readonly token: string;
}

/** The connection to the shop for one request. Only `answer` reveals the account. */
export interface Channel {
  readonly asked: Asked;
  /** Call before sending a signature. False if the request was withdrawn or is over: then nothing may be sent. */
  commit(): Promise<boolean>;
  answer(details: Details): void;
  /** `reason` is a word for programs. */
  cancel(reason: string): void;
  /** Called when the shop withdraws its request or the request expires. */
  onEnd: (why: 'aborted' | 'expired' | 'gone') => void;
  /** Where a link's answer goes after a click; undefined if the answer is sent without one. */
  readonly returnTo: ((outcome: Details | { readonly error: string }) => string) | undefined;
}

/** There is no request for this page, or its sender has gone. */
export class NoRequestError extends Error {
  override readonly name = 'NoRequestError';
}

/** Connects to the request that this page was opened for. Throws `NoRequestError`. */
export function openChannel(location: Location): Promise<Channel> {
  const query = new URLSearchParams(location.search);
  const mode = query.get('mode');
  if (mode === 'popup') return fromOpener(query.get('origin') ?? '');
  if (mode === 'redirect') return fromLink(query.get('request') ?? '');
  return fromWorker(query.get('request') ?? '');
}

/** For a payment already sent when the browser ended the worker: no one is left to answer. */
export function deafChannel(asker: Asker): Channel {
  return {
    asked: { asker, id: undefined, data: [], total: undefined, expiresAt: 0 },
    commit: async () => false,
    answer: () => undefined,
    cancel: () => undefined,
    onEnd: () => undefined,
    returnTo: undefined,
  };
}

/** The worker that opened this window, and no other: it alone controls the page. */
async function fromWorker(key: string): Promise<Channel> {
  const worker = navigator.serviceWorker?.controller;
  if (!worker || key === '') throw new NoRequestError();
  const say = (type: string, more: object = {}) => worker.postMessage({ type, key, ...more });
  const waiting = new Map<string, (message: Message) => void>();
  let channel: Channel | undefined;
  navigator.serviceWorker.addEventListener('message', ({ source, data }: MessageEvent<Message>) => {
    if (source !== worker || data?.key !== key) return;
    for (const [, heard] of waiting) heard(data);
    if (data.type === 'aborted' || data.type === 'expired') channel?.onEnd(data.type);
  });
  navigator.serviceWorker.startMessages();
  const ask = (type: string, wanted: string): Promise<Message | undefined> =>
    new Promise((resolve) => {
      const end = (message?: Message) => {
        waiting.delete(type);
        resolve(message);
      };
      waiting.set(type, (message) => {
        if (message.type === wanted) end(message);
        else if (ENDS.includes(message.type)) end();
      });
      setTimeout(end, CHANNEL_MS);
      say(type);
    });
  const given = await ask('ready', 'request');
  if (!given?.request) throw new NoRequestError();
  const { id, topOrigin, frameOrigin, methodData, total } = given.request;
  // Chromium says an origin with a slash at its end.
  const [origin, frame] = [new URL(topOrigin).origin, new URL(frameOrigin).origin];
  channel = {
    asked: {
      asker: { via: 'browser', origin, frame: frame === origin ? undefined : frame },
      id,
      data: methodData.map(({ data }) => data),
      total,
      expiresAt: given.expiresAt,
    },
    commit: async () => (await ask('commit', 'committed')) !== undefined,
    answer: (details) => say('answer', { details }),
    cancel: (reason) => say('cancel', { reason }),
    onEnd: () => undefined,
    returnTo: undefined,
  };
  return channel;
}

const ENDS = ['gone', 'aborted', 'expired'];

interface Message {
  readonly type: string;
  readonly key: string;
  readonly expiresAt: number;
  readonly request?: {
    readonly id: string;
    readonly topOrigin: string;
    readonly frameOrigin: string;
    readonly methodData: readonly { readonly data?: unknown }[];
    readonly total: unknown;
  };
}

/**
 * The opener says who it is by `origin`, and the browser who it really is: only that origin is heard, and only it is
 * answered.
 */
async function fromOpener(origin: string): Promise<Channel> {
  const opener = window.opener as Window | null;
  if (!opener || !isPlace(origin)) throw new NoRequestError();
  const say = (message: object) => opener.postMessage({ vault: 'pay', ...message }, origin);
  let channel: Channel | undefined;
  let isOver = false;
  const asked = new Promise<Asked>((resolve, reject) => {
    setTimeout(() => reject(new NoRequestError()), CHANNEL_MS);
    window.addEventListener('message', ({ source, origin: from, data }: MessageEvent<unknown>) => {
      if (source !== opener || from !== origin || !isOurs(data)) return;
      if (data['type'] === 'abort') {
        isOver = true;
        channel?.onEnd('aborted');
      }
      // The first request is the only one: what is shown cannot be exchanged for another.
      if (data['type'] === 'request') resolve(askedOf(data, { via: 'opener', origin, frame: undefined }));
    });
  });
  say({ type: 'ready' });
  channel = {
    asked: await asked,
    commit: async () => !isOver && !opener.closed,
    answer: (details) => say({ type: 'answer', details }),
    cancel: (reason) => say({ type: 'cancel', reason }),
    onEnd: () => undefined,
    returnTo: undefined,
  };
  return channel;
}

function isOurs(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && (data as { vault?: unknown }).vault === 'pay';
}

/** A link says nothing of who made it: the origin shown is the one that the answer goes to. */
async function fromLink(request: string): Promise<Channel> {
  const given = parseLink(request);
  const returnUrl = readReturnUrl(given['returnUrl']);
  if (!returnUrl) throw new NoRequestError();
  return {
    asked: askedOf(given, { via: 'link', origin: returnUrl.origin, frame: undefined }, await endOfLink(request)),
    commit: async () => true,
    answer: () => undefined,
    cancel: () => undefined,
    onEnd: () => undefined,
    returnTo(outcome) {
      // In the fragment, which stays in the browser: neither logs nor other sites see the account.
      const url = new URL(returnUrl);
      const text = JSON.stringify({ id: given['id'], ...outcome });
      url.hash = `vault-pay=${toBase64url(new TextEncoder().encode(text))}`;
      return url.href;
    },
  };
}

/** A URL that may receive an answer: https, or http on loopback. Undefined for others, such as `javascript:`. */
export function readReturnUrl(value: unknown): URL | undefined {
  if (typeof value !== 'string' || value.length > URL_CHARS_MAX || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  // The origin of `blob:https://shop.example/…` is the shop's, but the page there is whatever made the blob.
  const isBare = url.protocol !== 'blob:' && url.username === '' && url.password === '';
  return isPlace(url.origin) && isBare ? url : undefined;
}

/** The JSON object in a link; empty if it is invalid. */
function parseLink(request: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(fromBase64url(request))) as unknown;
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

function askedOf(
  { id, data, total }: Readonly<Record<string, unknown>>,
  asker: Asked['asker'],
  expiresAt = Date.now() + REQUEST_MS,
): Asked {
  return { asker, id, data: [data], total, expiresAt };
}

/**
 * When a link ends: counted from its first opening on this device, which a reload does not change. A link that never
 * was opened here, or a browser that stores nothing, starts now.
 */
async function endOfLink(request: string): Promise<number> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(request)));
  const [key, now] = [toHex(hash.subarray(0, 16)), Date.now()];
  try {
    const known = JSON.parse(localStorage.getItem('vault-links') ?? '[]') as readonly [string, number][];
    const [, openedAt = now] = known.find(([name]) => name === key) ?? [];
    const kept = [[key, openedAt], ...known.filter(([name]) => name !== key)].slice(0, LINKS_MAX);
    localStorage.setItem('vault-links', JSON.stringify(kept));
    // A clock that was turned back lengthens nothing.
    return Math.min(openedAt, now) + REQUEST_MS;
  } catch {
    return now + REQUEST_MS;
  }
}

/** A bare origin of https, or of loopback. */
function isPlace(origin: string): boolean {
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) return false;
  const { protocol, hostname } = new URL(origin);
  const isLoopback = /^(?:localhost|(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}
