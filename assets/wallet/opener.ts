// A request from the window that opened this one.
import { isPlace } from './asker.ts';

/** This page has no request, or its sender has gone. */
export class NoRequestError extends Error {
  override readonly name = 'NoRequestError';
}

/** The window that opened this one, and its request. */
export interface OpenerLine {
  readonly request: Readonly<Record<string, unknown>>;
  say(message: object): void;
  /** Whether it is there, and has not withdrawn its request. */
  isOpen(): boolean;
  /** Called when it withdraws. */
  onAbort: () => void;
}

/** After this time without an answer the opener counts as gone. */
const CHANNEL_MS = 5_000;

/**
 * Waits for the request, which comes as a message of `vault`. The opener says who it is by `origin`, and the browser
 * who it really is: only that origin is heard, and only it is answered. Throws `NoRequestError`.
 */
export async function hearOpener(vault: 'approve' | 'pay', origin: string): Promise<OpenerLine> {
  const opener = window.opener as Window | null;
  if (!opener || !isPlace(origin)) throw new NoRequestError();
  const say = (message: object) => opener.postMessage({ vault, ...message }, origin);
  let line: OpenerLine | undefined;
  let isOver = false;
  const request = new Promise<OpenerLine['request']>((resolve, reject) => {
    setTimeout(() => reject(new NoRequestError()), CHANNEL_MS);
    window.addEventListener('message', ({ source, origin: from, data }: MessageEvent<unknown>) => {
      if (source !== opener || from !== origin || !isMeant(data, vault)) return;
      if (data['type'] === 'abort') {
        isOver = true;
        line?.onAbort();
      }
      // The first request is the only one: what is shown cannot be exchanged for another.
      if (data['type'] === 'request') resolve(data);
    });
  });
  say({ type: 'ready' });
  line = { request: await request, say, isOpen: () => !isOver && !opener.closed, onAbort: () => undefined };
  return line;
}

function isMeant(data: unknown, vault: string): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && (data as { vault?: unknown }).vault === vault;
}
