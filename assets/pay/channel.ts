// How a request comes in and its answer goes out: the payment handler's worker, the window that opened this one, or a
// link.

import { utf8 } from '../../client/bytes.ts';
import { toBase64url } from '../../client/wallet/bytes.ts';
import { type Asker, parseLink, readReturnUrl } from '../wallet/asker.ts';
import { hearOpener, NoRequestError } from '../wallet/opener.ts';
import { CHANNEL_MS, REQUEST_MS } from './constants.ts';
import { endOfLink } from './link.ts';
import type { Asked } from './request.ts';

/** The receipt that the shop gets for a payment in a block. */
export interface Details {
  readonly userOpHash: string;
  readonly txHash: string;
  readonly chainId: number;
  readonly account: string;
  readonly token: string;
}

/** The shop's notice of a payment that was sent. Nothing is paid yet. */
export interface PendingDetails {
  readonly userOpHash: string;
  readonly account: string;
  /** The last second, by the chain's time, in which it can be paid; null if it has none. */
  readonly endsAt: number | null;
}

/** How a link's request ended without a payment that is confirmed. */
export interface Failure {
  readonly error: string;
  /** The payment may still be paid. */
  readonly userOpHash?: string | undefined;
}

/** The connection to the shop for one request. Only `pending` and `answer` reveal the account. */
export interface Channel {
  readonly asked: Asked;
  /** Call before sending a signature. False if the request was withdrawn or is over: then nothing may be sent. */
  commit(): Promise<boolean>;
  /** Says that a payment was sent, as far as the channel can. */
  pending(details: PendingDetails): void;
  answer(details: Details): void;
  /** `reason` is a word for programs. */
  cancel(reason: string): void;
  /** Called when the shop withdraws its request or the request expires. */
  onEnd: (why: 'aborted' | 'expired' | 'gone') => void;
  /** Where a link's answer goes after a click; undefined if the answer is sent without one. */
  readonly returnTo: ((outcome: Details | Failure) => string) | undefined;
}

/** Connects to the request that this page was opened for. Throws `NoRequestError`. */
export function openChannel(location: Location): Promise<Channel> {
  const query = new URLSearchParams(location.search);
  const mode = query.get('mode');
  if (mode === 'popup') return fromOpener(query.get('origin') ?? '');
  if (mode === 'redirect') return fromLink(query.get('request') ?? '');
  return fromWorker(query.get('request') ?? '');
}

/** Says nothing to anybody. */
const nothing = () => undefined;
const SILENT = { pending: nothing, answer: nothing, cancel: nothing, onEnd: nothing, returnTo: undefined };

/** For a payment already sent when the browser ended the worker: no one is left to answer. */
export function deafChannel(asker: Asker): Channel {
  return {
    ...SILENT,
    asked: { asker, id: undefined, data: [], total: undefined, expiresAt: 0 },
    commit: async () => false,
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
    ...SILENT,
    asked: {
      asker: { via: 'browser', origin, frame: frame === origin ? undefined : frame },
      id,
      data: methodData.map(({ data }) => data),
      total,
      expiresAt: given.expiresAt,
    },
    commit: async () => (await ask('commit', 'committed')) !== undefined,
    // Browsers take one answer, and a pending payment is not an answer.
    pending: () => undefined,
    answer: (details) => say('answer', { details }),
    cancel: (reason) => say('cancel', { reason }),
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

/** Only the opener at that origin is heard, and only it is answered. */
async function fromOpener(origin: string): Promise<Channel> {
  const line = await hearOpener('pay', origin);
  const { say } = line;
  const channel: Channel = {
    ...SILENT,
    asked: askedOf(line.request, { via: 'opener', origin, frame: undefined }),
    commit: async () => line.isOpen(),
    pending: (details) => say({ type: 'pending', details }),
    answer: (details) => say({ type: 'answer', details }),
    cancel: (reason) => say({ type: 'cancel', reason }),
  };
  line.onAbort = () => channel.onEnd('aborted');
  return channel;
}

/** A link does not show its author: the origin shown is the one that the answer goes to. */
async function fromLink(request: string): Promise<Channel> {
  const given = parseLink(request);
  const returnUrl = readReturnUrl(given['returnUrl']);
  if (!returnUrl) throw new NoRequestError();
  return {
    ...SILENT,
    asked: askedOf(given, { via: 'link', origin: returnUrl.origin, frame: undefined }, await endOfLink(request)),
    commit: async () => true,
    returnTo(outcome) {
      // In the fragment, which stays in the browser: neither logs nor other sites see the account.
      const url = new URL(returnUrl);
      const text = JSON.stringify({ id: given['id'], ...outcome });
      url.hash = `vault-pay=${toBase64url(utf8(text))}`;
      return url.href;
    },
  };
}

function askedOf(
  { id, data, total }: Readonly<Record<string, unknown>>,
  asker: Asked['asker'],
  expiresAt = Date.now() + REQUEST_MS,
): Asked {
  return { asker, id, data: [data], total, expiresAt };
}
