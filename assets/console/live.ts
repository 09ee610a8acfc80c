import type { Api } from './api.ts';
import { IDLE, type Probe, type StreamEffect, type StreamInput, type StreamState, step } from './stream.ts';

/** Callbacks of the stream. */
export interface LiveHooks {
  /** Every event once, ordered by id; `data` is the JSON that the vault sent. */
  readonly onEvent: (data: string) => void;
  /** Events that are lost: expired, or of another database if `to` is smaller than `from`. */
  readonly onLost: (from: number, to: number) => void;
  readonly onState: (state: StreamState) => void;
  /** The CID of the token in use, by which it can be revoked. */
  readonly onToken: (cid: string) => void;
}

/** The stream to open: these channels of one app, all if absent; `types` are the event names to listen for. */
export interface Wanted {
  readonly app: string;
  readonly channels?: readonly string[] | undefined;
  readonly types: readonly string[];
  readonly lastId: number;
}

/** The stream over the browser's EventSource; it carries out what `step` decides. */
export interface Live {
  start(wanted: Wanted): void;
  /** Tries again at once, after the network came back or the person asked. */
  wake(): void;
  /** Opens a new stream beside the current one, which may be dead without an error. */
  renew(): void;
  stop(): void;
  state(): StreamState;
}

/** Creates the stream. `now` is the vault's time in milliseconds, by which tokens expire. */
export function createLive(api: Api, now: () => number, hooks: LiveHooks): Live {
  const sources = new Map<number, EventSource>();
  const waits = new Map<string, ReturnType<typeof setTimeout>>();
  let state: StreamState = IDLE;
  let wanted: Wanted = { app: '', types: [], lastId: 0 };

  const send: Send = (input, data = '') => {
    const [after, effects] = step(state, input);
    state = after;
    for (const effect of effects) carryOut(effect, data);
    hooks.onState(state);
  };
  const carryOut = (effect: StreamEffect, data: string): void => {
    if (effect.do === 'show') hooks.onEvent(data);
    else if (effect.do === 'lose') hooks.onLost(effect.from, effect.to);
    else if (effect.do === 'mint') void mint();
    else if (effect.do === 'open') sources.set(effect.source, openSource(effect, wanted, send));
    else if (effect.do === 'probe') void probe(effect.source);
    else if (effect.do === 'close') close(effect.source);
    else if ('until' in effect) {
      clearTimeout(waits.get(effect.until));
      if (effect.do === 'wait') wait(effect.until, effect.ms);
    }
  };
  const wait = (kind: 'renew' | 'retry', ms: number): void => {
    waits.set(
      kind,
      setTimeout(() => send({ kind }), ms),
    );
  };
  const close = (source: number): void => {
    sources.get(source)?.close();
    sources.delete(source);
  };
  const mint = async (): Promise<void> => {
    const asked = wanted;
    const minted = await api.mint(asked.app, asked.channels, state.token).catch(() => undefined);
    // A token for the earlier choice does not open the present one.
    if (asked !== wanted) return;
    if (!minted) return send({ kind: 'mint-failed' });
    hooks.onToken(minted.cid);
    send({ kind: 'minted', token: minted.token, lifeMs: Date.parse(minted.expires_at) - now() });
  };
  const probe = async (source: number): Promise<void> => {
    const url = sources.get(source)?.url;
    send({ kind: 'probed', source, found: url === undefined ? 'unreachable' : await findReason(url) });
  };

  return {
    start(asked) {
      wanted = asked;
      send({ kind: 'start', lastId: asked.lastId });
    },
    wake: () => send({ kind: 'wake' }),
    renew: () => send({ kind: 'renew' }),
    stop: () => send({ kind: 'stop' }),
    state: () => state,
  };
}

type Send = (input: StreamInput, data?: string) => void;

/** A connection that tells all that comes of it. */
function openSource(
  { source, token, lastId }: Extract<StreamEffect, { readonly do: 'open' }>,
  { app, channels, types }: Wanted,
  send: Send,
): EventSource {
  const stream = new EventSource(addressOf({ app, ...(channels && { channel: channels.join(',') }) }, token, lastId));
  stream.onopen = () => send({ kind: 'opened', source });
  stream.onerror = () => send({ kind: stream.readyState === EventSource.CLOSED ? 'closed' : 'dropped', source });
  const take = ({ data, lastEventId }: MessageEvent<string>) =>
    send({ kind: 'event', source, id: Number(lastEventId) }, data);
  for (const type of types) stream.addEventListener(type, take);
  stream.addEventListener('rewind-required', ({ data }: MessageEvent<string>) =>
    send({ kind: 'rewind', source, id: Number(data) }),
  );
  for (const [name, kind] of SENTINELS) stream.addEventListener(name, () => send({ kind, source }));
  return stream;
}

const SENTINELS = [
  ['token-expired', 'expired'],
  ['token-revoked', 'revoked'],
  ['superseded', 'superseded'],
] as const;

/**
 * A token of a few minutes is the only secret that ever stands in an address: an EventSource sends no headers of ours.
 */
function addressOf(scope: Readonly<Record<string, string>>, token: string, lastId: number): string {
  return `/v1/console/events?${new URLSearchParams({ ...scope, last_event_id: String(lastId), token })}`;
}

/**
 * An EventSource does not say why it was refused: the same is asked for once more, and given up as soon as the status
 * is known.
 */
async function findReason(url: string): Promise<Probe> {
  const controller = new AbortController();
  try {
    const response = await fetch(url, { signal: controller.signal, cache: 'no-store' });
    if (response.status !== 401) return 'refused';
    const { error } = (await response.json()) as { error?: string };
    return error === 'token_expired' || error === 'token_revoked' ? error : 'refused';
  } catch {
    return 'unreachable';
  } finally {
    controller.abort();
  }
}
