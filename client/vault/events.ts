import { type Place, pause } from './call.ts';
import { VaultClientError } from './error.ts';

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

/**
 * The events as they happen. A connection that breaks is opened again behind the last event. Throws `token_expired`,
 * `token_revoked`, `superseded`, and what the vault refuses.
 */
export async function* events(
  { url, fetch: ask = globalThis.fetch }: Place,
  token: EventToken,
  { app, channel, after, onGap, signal }: EventOptions = {},
): AsyncGenerator<VaultEvent, void, undefined> {
  const target = new URL('/v1/console/events', url);
  for (const [name, value] of Object.entries({ app, channel })) if (value) target.searchParams.set(name, value);
  let last = after === undefined ? undefined : String(after);
  for (let failures = 0; ; failures++) {
    const bearer = typeof token === 'string' ? token : await token();
    const headers = { authorization: `Bearer ${bearer}`, ...(last === undefined ? {} : { 'last-event-id': last }) };
    const init = { headers, ...(signal ? { signal } : {}) };
    const response = await ask.call(undefined, target, init).catch(() => undefined);
    let waitMs = 1000 * 2 ** Math.min(failures, 5);
    let hasDelivered = false;
    try {
      if (response && !response.ok) await refuse(response);
      for await (const { id, event, data, retry } of framesOf(response?.body)) {
        if (retry !== undefined) waitMs = Number(retry);
        if (event === 'rewind-required') {
          // Behind events the vault only dropped what it had queued: it sends that again.
          if (!hasDelivered) onGap?.(data ?? '');
          last = data;
        }
        const end = ENDS[event ?? ''];
        if (end !== undefined) throw new VaultClientError(end, { status: 401 });
        if (id === undefined) continue;
        last = id;
        failures = 0;
        if (data === undefined) continue;
        hasDelivered = true;
        yield JSON.parse(data) as VaultEvent;
      }
    } catch (error) {
      const isOver =
        error instanceof VaultClientError && !(error.error === 'token_expired' && typeof token !== 'string');
      if (isOver || signal?.aborted) throw error;
    }
    await pause(Math.min(waitMs, WAIT_MS_MAX), signal);
  }
}

/** Throws what the vault refuses for good; what passes is tried again. */
async function refuse(response: Response): Promise<void> {
  const { status } = response;
  if (status === 429 || status >= 500) return;
  const { error, hint } = (await response.json().catch(() => ({}))) as { error?: string; hint?: string };
  throw new VaultClientError(error ?? 'unexpected_answer', { status, hint });
}

type Frame = Partial<Record<'id' | 'event' | 'data' | 'retry', string>>;

/** The frames of an event stream. One field of each name is all that the vault writes. */
async function* framesOf(body: ReadableStream<Uint8Array> | null | undefined): AsyncGenerator<Frame> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>;
  let rest = '';
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const frames = (rest + part.value).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) yield Object.fromEntries(frame.split('\n').map(fieldOf)) as Frame;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function fieldOf(line: string): [string, string] {
  const at = line.indexOf(':');
  return [line.slice(0, at), line.slice(at + 1).trimStart()];
}
