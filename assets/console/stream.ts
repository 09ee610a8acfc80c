import { BACKOFF_FIRST_MS, BACKOFF_MS_MAX, RECONNECT_WAIT_MS, RENEW_AT_LIFE, RENEW_MS_MIN } from './limits.ts';

/**
 * The state of the stream: `off` by the operator's setting, `idle` before a start, `superseded` and `revoked` until the
 * person asks for a new one. All others become `live` without the person.
 */
export type Phase =
  | 'off'
  | 'idle'
  | 'connecting'
  | 'live'
  | 'rewinding'
  | 'expired'
  | 'offline'
  | 'superseded'
  | 'revoked';

/** The stream as plain data. Sources are numbers: `current` delivers, `next` will replace it. */
export interface StreamState {
  readonly phase: Phase;
  /** The newest event shown. A resumption starts after it; no id up to it is shown again. */
  readonly lastId: number;
  readonly token: string | null;
  readonly current: number | null;
  readonly next: number | null;
  readonly isMinting: boolean;
  /** Failures in a row. */
  readonly failures: number;
  /** Number of sources so far. */
  readonly sources: number;
  /** The sources that delivered since they were last opened. */
  readonly delivered: readonly number[];
}

/** An input of `step`; `source` is the connection it came from. */
export type StreamInput =
  | { readonly kind: 'start'; readonly lastId: number }
  | { readonly kind: 'stop' | 'wake' | 'renew' | 'retry' | 'mint-failed' }
  | { readonly kind: 'minted'; readonly token: string; readonly lifeMs: number }
  /** For a rewind, `id` is the vault's position in the stream. */
  | { readonly kind: 'event' | 'rewind'; readonly source: number; readonly id: number }
  /** `dropped`: the browser reconnects; `closed`: it has given up; the others come from the vault. */
  | { readonly kind: SourceNews; readonly source: number }
  | { readonly kind: 'probed'; readonly source: number; readonly found: Probe };

type SourceNews = 'opened' | 'dropped' | 'closed' | 'expired' | 'superseded' | 'revoked';

/** Why a source was refused, found by a second request whose answer can be read. */
export type Probe = 'token_expired' | 'token_revoked' | 'refused' | 'unreachable';

/** An effect to carry out. `wait` replaces the wait of the same name; `show` means that the event is new. */
export type StreamEffect =
  | { readonly do: 'mint' | 'show' }
  /** Events between the two ids are lost. A smaller `to` means that the ids started again. */
  | { readonly do: 'lose'; readonly from: number; readonly to: number }
  | { readonly do: 'open'; readonly source: number; readonly token: string; readonly lastId: number }
  | { readonly do: 'close' | 'probe'; readonly source: number }
  | { readonly do: 'wait'; readonly until: 'renew' | 'retry'; readonly ms: number }
  | { readonly do: 'forget'; readonly until: 'renew' | 'retry' };

/** The new state and the effects to carry out. */
export type Step = readonly [StreamState, readonly StreamEffect[]];

/** A stream that has not started. */
export const IDLE: StreamState = {
  phase: 'idle',
  lastId: 0,
  token: null,
  current: null,
  next: null,
  isMinting: false,
  failures: 0,
  sources: 0,
  delivered: [],
};

/** One step of the stream. It is pure, so that tests can try every order of inputs. */
export function step(state: StreamState, input: StreamInput): Step {
  switch (input.kind) {
    case 'start':
      return start(state, input.lastId);
    case 'stop':
      return [{ ...IDLE, sources: state.sources }, [...closeAll(state), ...FORGET_ALL]];
    case 'wake':
      return state.phase === 'offline' ? mint(state) : [state, []];
    case 'renew':
    case 'retry':
      return isResting(state) ? [state, []] : mint(state);
    case 'minted':
      return minted(state, input);
    case 'mint-failed':
      return state.isMinting ? failed({ ...state, isMinting: false }) : [state, []];
    default:
      // Late inputs of a closed source do not count.
      return input.source === state.current || input.source === state.next ? heard(state, input) : [state, []];
  }
}

/** Milliseconds until a token with this remaining life is renewed. */
export function renewalMs(lifeMs: number): number {
  return Math.max(RENEW_MS_MIN, Math.round(lifeMs * RENEW_AT_LIFE));
}

/** The wait in milliseconds after this many failures in a row. */
export function backoffMs(failures: number): number {
  return Math.min(BACKOFF_MS_MAX, BACKOFF_FIRST_MS * 2 ** Math.min(failures, 10));
}

const FORGET_ALL: readonly StreamEffect[] = [
  { do: 'forget', until: 'renew' },
  { do: 'forget', until: 'retry' },
];

type Heard = Extract<StreamInput, { readonly source: number }>;

function start(state: StreamState, lastId: number): Step {
  const [minting, effects] = mint({ ...IDLE, sources: state.sources, lastId, phase: 'connecting' });
  return [minting, [...closeAll(state), ...FORGET_ALL, ...effects]];
}

function heard(state: StreamState, input: Heard): Step {
  switch (input.kind) {
    case 'event':
      return delivered(state, input.source, input.id);
    case 'opened':
      return opened(state, input.source);
    case 'dropped':
      // Every attempt of the browser that fails says so again: only the first begins the wait.
      return input.source === state.current && state.phase === 'live'
        ? [{ ...state, phase: 'connecting' }, [{ do: 'wait', until: 'retry', ms: RECONNECT_WAIT_MS }]]
        : [state, []];
    case 'closed':
      return [state, [{ do: 'probe', source: input.source }]];
    case 'probed':
      return probed(state, input.source, input.found);
    case 'rewind':
      return rewind(state, input.source, input.id);
    case 'expired':
      return renewNow(without(state, input.source), input.source);
    case 'superseded':
    case 'revoked':
      return rest(state, input.source, input.kind);
  }
}

function delivered(state: StreamState, source: number, id: number): Step {
  const known = state.delivered.includes(source) ? state : { ...state, delivered: [...state.delivered, source] };
  return id > state.lastId ? [{ ...known, lastId: id }, [{ do: 'show' }]] : [known, []];
}

function mint(state: StreamState): Step {
  return state.isMinting ? [state, []] : [{ ...state, isMinting: true }, [{ do: 'mint' }]];
}

/** The new stream is opened beside the old one, which goes only once the new one is there. */
function minted(state: StreamState, { token, lifeMs }: Extract<StreamInput, { readonly kind: 'minted' }>): Step {
  if (!state.isMinting) return [state, []];
  const [opening, effects] = open({ ...state, isMinting: false, token }, token);
  const stale: StreamEffect[] = state.next === null ? [] : [{ do: 'close', source: state.next }];
  return [opening, [...stale, ...effects, { do: 'wait', until: 'renew', ms: renewalMs(lifeMs) }]];
}

function open(state: StreamState, token: string): Step {
  const source = state.sources + 1;
  return [{ ...state, sources: source, next: source }, [{ do: 'open', source, token, lastId: state.lastId }]];
}

function opened(before: StreamState, source: number): Step {
  const state = { ...before, delivered: before.delivered.filter((one) => one !== source) };
  const forget: StreamEffect = { do: 'forget', until: 'retry' };
  // The browser's own reconnect leaves a renewal that failed before still to be tried again.
  if (source !== state.next) return [{ ...state, phase: 'live' }, state.failures > 0 ? [] : [forget]];
  const stale: StreamEffect[] = state.current === null ? [] : [{ do: 'close', source: state.current }];
  return [{ ...state, current: source, next: null, phase: 'live', failures: 0 }, [...stale, forget]];
}

/**
 * Behind events, the vault dropped what it had queued for us: the same token starts again behind what was shown. Before
 * any, it does not have what was asked for, and goes on from its own place.
 */
function rewind(state: StreamState, source: number, id: number): Step {
  if (!state.delivered.includes(source)) {
    return id === state.lastId ? [state, []] : [{ ...state, lastId: id }, [{ do: 'lose', from: state.lastId, to: id }]];
  }
  const left = without(state, source);
  const close: StreamEffect = { do: 'close', source };
  if (isCarried(left) || state.token === null) return [carriedOn(left), [close]];
  const [opening, effects] = open({ ...left, phase: 'rewinding' }, state.token);
  return [opening, [close, ...effects]];
}

function renewNow(left: StreamState, source: number): Step {
  const close: StreamEffect = { do: 'close', source };
  if (isCarried(left)) return [carriedOn(left), [close]];
  const [minting, effects] = left.failures === 0 ? mint({ ...left, phase: 'expired' }) : failed(left);
  return [{ ...minting, failures: minting.failures || 1 }, [close, ...effects]];
}

function probed(state: StreamState, source: number, found: Probe): Step {
  const left = without(state, source);
  if (found === 'token_revoked') return rest(state, source, 'revoked');
  if (found === 'token_expired') return renewNow(left, source);
  const [waiting, effects] = failed(left);
  return [waiting, [{ do: 'close', source }, ...effects]];
}

/**
 * Only the person resumes a stream that someone ended on purpose; a stream that is being renewed has another token
 * already.
 */
function rest(state: StreamState, source: number, phase: 'superseded' | 'revoked'): Step {
  const left = without(state, source);
  const close: StreamEffect = { do: 'close', source };
  if (isCarried(left)) return [carriedOn(left), [close]];
  return [{ ...left, phase, isMinting: false, token: null }, [close, ...FORGET_ALL]];
}

/** A stream that still delivers stays what it is while the renewal is tried again. */
function failed(state: StreamState): Step {
  const phase = state.current !== null && state.phase === 'live' ? 'live' : 'offline';
  const wait: StreamEffect = { do: 'wait', until: 'retry', ms: backoffMs(state.failures) };
  return [{ ...state, phase, failures: state.failures + 1 }, [wait]];
}

function isCarried({ current, next }: StreamState): boolean {
  return current !== null || next !== null;
}

function carriedOn(left: StreamState): StreamState {
  return left.current === null ? { ...left, phase: 'connecting' } : left;
}

function without(state: StreamState, source: number): StreamState {
  return {
    ...state,
    current: state.current === source ? null : state.current,
    next: state.next === source ? null : state.next,
    delivered: state.delivered.filter((one) => one !== source),
  };
}

function closeAll({ current, next }: StreamState): StreamEffect[] {
  return [current, next].flatMap((source): StreamEffect[] => (source === null ? [] : [{ do: 'close', source }]));
}

function isResting({ phase }: StreamState): boolean {
  return ['off', 'idle', 'superseded', 'revoked'].includes(phase);
}
