// The live stream: a file of its own, loaded when somebody reads events.
import { either, pause, until, type VaultEndpoint } from './call.ts';
import { fault, isPassing, parseJson, VaultClientError } from './error.ts';

/** One event of the vault (docs/events.md). */
export interface VaultEvent {
  readonly id: number;
  readonly app: string;
  readonly channel: string;
  readonly type: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Which events. */
export interface EventOptions {
  readonly app?: string;
  /** One channel, or several with commas. */
  readonly channel?: string;
  /** The id of the last event you have: those after it follow. */
  readonly after?: number | string;
  /** Events up to this id are lost: they were kept no longer. */
  readonly onGap?: (id: string) => void;
  /** A connection on which nothing came for so long is broken: two and a half heartbeats of the vault, 65 if absent. */
  readonly silenceSeconds?: number;
  readonly signal?: AbortSignal;
}

/** A token, or what fetches the next one when it has ended. */
export type EventToken = string | (() => string | Promise<string>);

/** These end a stream for good; of an ended token the next one follows, if there is a way to get it. */
const ENDS: Readonly<Record<string, string>> = {
  'token-expired': 'token_expired',
  'token-revoked': 'token_revoked',
  superseded: 'superseded',
};
const WAIT_MS_MAX = 30_000;
const SILENCE_SECONDS = 65;
/** A way to tokens that fails so often in a row, for some minutes, does not get well by itself. */
const TOKEN_TRIES = 10;

/** Thrown by the caller's own code: it goes out as it is. */
class OwnError extends Error {
  override readonly name = 'OwnError';
}

/**
 * The events as they happen. A connection that breaks, or is silent, is opened again behind the last event. Throws
 * `token_expired`, `token_revoked`, `superseded`, and other refusals of the vault.
 */
export async function* events(
  { url, fetch: ask = globalThis.fetch }: VaultEndpoint,
  token: EventToken,
  { app, channel, after, onGap, silenceSeconds = SILENCE_SECONDS, signal }: EventOptions = {},
): AsyncGenerator<VaultEvent, void, undefined> {
  const target = new URL('/v1/console/events', url);
  for (const [name, value] of Object.entries({ app, channel })) if (value) target.searchParams.set(name, value);
  let last = after === undefined ? undefined : String(after);
  let bearer: string | undefined;
  for (let failures = 0; ; failures++) {
    let waitMs = 1000 * 2 ** Math.min(failures, 5);
    try {
      bearer ??= typeof token === 'string' ? token : await nextOf(token, failures);
      const headers = { authorization: `Bearer ${bearer}`, ...(last === undefined ? {} : { 'last-event-id': last }) };
      let hasDelivered = false;
      const frames = framesOf((ends) => ask.call(undefined, target, { headers, signal: ends }), silenceSeconds, signal);
      for await (const { id, event, data, retry } of frames) {
        if (retry !== undefined) waitMs = Number(retry);
        if (event === 'rewind-required') {
          last = data;
          // Behind events the vault only dropped what it had queued: it sends that again.
          if (!hasDelivered) own(() => onGap?.(data ?? ''));
        }
        const end = ENDS[event ?? ''];
        if (end !== undefined) throw new VaultClientError(end, { status: 401 });
        if (id === undefined) continue;
        last = id;
        failures = 0;
        if (data === undefined) continue;
        hasDelivered = true;
        const read = parseJson(data);
        if (read === undefined) throw fault('unexpected_answer', { status: 200 });
        yield read as VaultEvent;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof OwnError) throw error.cause;
      const isEnded = error instanceof VaultClientError && error.error === 'token_expired' && typeof token !== 'string';
      if (error instanceof VaultClientError && !isEnded && !isPassing(error)) throw error;
      if (isEnded) bearer = undefined;
    }
    await pause(Math.min(waitMs, WAIT_MS_MAX), signal);
  }
}

function own(act: () => void): void {
  try {
    act();
  } catch (error) {
    throw new OwnError('', { cause: error });
  }
}

/** The next token. Throws a refusal of the vault, and the failure after too many. */
async function nextOf(token: () => string | Promise<string>, failures: number): Promise<string> {
  try {
    return await token();
  } catch (error) {
    const isOver = error instanceof VaultClientError && !isPassing(error);
    throw isOver || failures + 1 >= TOKEN_TRIES ? new OwnError('', { cause: error }) : error;
  }
}

type Frame = Partial<Record<'id' | 'event' | 'data' | 'retry', string>>;

/**
 * The frames of an event stream, until it ends or is silent. One field of each name is all that the vault writes.
 * Throws what the vault refuses.
 */
async function* framesOf(
  connect: (ends: AbortSignal) => Promise<Response>,
  silenceSeconds: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame, void, undefined> {
  const silent = new AbortController();
  const ends = either(silent.signal, signal);
  // Only while something is waited for: the reader of the events may take its time.
  const soon = <T>(what: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => silent.abort(), silenceSeconds * 1000);
    return until(what, ends).finally(() => clearTimeout(timer));
  };
  const response = await soon(connect(ends));
  if (!response.ok) return refuse(response);
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream') || !response.body) throw fault('unexpected_answer', { status: 200 });
  const texts = response.body.pipeThrough(new TextDecoderStream() as never) as ReadableStream<string>;
  const reader = texts.getReader();
  let rest = '';
  try {
    for (let part = await soon(reader.read()); !part.done; part = await soon(reader.read())) {
      const frames = (rest + part.value).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) yield Object.fromEntries(frame.split('\n').map(fieldOf)) as Frame;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Throws a lasting refusal of the vault; other failures are tried again. */
async function refuse(response: Response): Promise<void> {
  const { status } = response;
  if (status === 429 || status >= 500) return;
  const { error, hint } = (parseJson(await response.text()) ?? {}) as { error?: string; hint?: string };
  throw new VaultClientError(error ?? 'unexpected_answer', { status, hint });
}

function fieldOf(line: string): [string, string] {
  const at = line.indexOf(':');
  return [line.slice(0, at), line.slice(at + 1).trimStart()];
}
