import { random } from '../bytes.ts';
import { toHex } from '../wallet/bytes.ts';
import { fault, parseJson, VaultClientError } from './error.ts';
import type { AnswerOf, InputOf, OperationName } from './wire.ts';

/** Where the vault is, and how it is asked. */
export interface VaultEndpoint {
  /** The vault's origin. */
  readonly url: string;
  /** The app that the events of the requests belong to (`X-Vault-App`). */
  readonly app?: string | undefined;
  /** The operator's secret, for the operations under `/v1/console`. Never in a page. */
  readonly operatorSecret?: string | undefined;
  /** Replaces the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
}

/** How one call is made. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** A repeated call with the same key gets the first one's answer. Without it each call has a key of its own. */
  readonly idempotencyKey?: string | undefined;
  /** The language of messages to people. */
  readonly language?: string | undefined;
}

/** Asks the vault. Throws `VaultClientError`, and the reason of `signal`. */
export type Call = <Name extends OperationName>(
  name: Name,
  input?: InputOf<Name>,
  options?: CallOptions,
) => Promise<AnswerOf<Name>>;

/** They take an `Idempotency-Key`. */
export const KEYED: readonly OperationName[] = ['POST /api/verify/send', 'POST /api/sessions', 'POST /api/dids'];

const TRIES = 4;
const FIRST_WAIT_MS = 300;
/** A relayed registration is answered within 20 seconds. To wait longer, or try after that, is the caller's choice. */
const ANSWER_MS = 30_000;
/** An earlier request with the same key is under way. A vault that was killed in the middle lets go after a minute. */
const HELD_MS = 90_000;

/** The calls of one vault. */
export function createCall({ url, app, operatorSecret, fetch: ask = globalThis.fetch }: VaultEndpoint): Call {
  const common: Record<string, string> = { ...(app ? { 'x-vault-app': app } : {}) };
  const { origin } = new URL(url);
  let isWarned = false;
  /** A vault says which app it took a request for. */
  const read = (response: Response) => {
    const taken = response.headers.get('x-vault-app');
    if (app && taken && taken !== app && !isWarned) {
      isWarned = true;
      console.warn(`vault: ${origin} does not know the app "${app}" (APPS): its events belong to "${taken}"`);
    }
    return readAnswer(response, origin);
  };
  return async (name, input, { signal, language, idempotencyKey } = {}) => {
    const [method = '', path = ''] = name.split(' ');
    const isGet = method === 'GET';
    const isKeyed = KEYED.includes(name);
    const target = new URL(path, url);
    const headers = { ...common };
    if (!isGet) headers['content-type'] = 'application/json';
    for (const [key, value] of Object.entries(isGet ? (input ?? {}) : {}))
      if (value !== undefined && value !== null) target.searchParams.set(key, String(value));
    if (isKeyed) headers['idempotency-key'] = idempotencyKey ?? newKey();
    if (language !== undefined) headers['accept-language'] = language;
    if (path.startsWith('/v1/')) {
      // An empty one would count as a wrong guess.
      if (!operatorSecret) throw fault('no_operator_secret');
      headers['authorization'] = `Bearer ${operatorSecret}`;
    }
    const body = isGet ? {} : { body: JSON.stringify(input ?? {}) };
    const start = Date.now();
    for (let tries = 1; ; tries++) {
      signal?.throwIfAborted();
      const failed = await ask
        .call(undefined, target, { method, headers, ...body, signal: either(AbortSignal.timeout(ANSWER_MS), signal) })
        .then(read)
        .catch((cause) => ({ error: fault('unreachable', { cause, hint: silence(origin) }), isPassing: true }));
      if (!('error' in failed)) return failed.answer as AnswerOf<typeof name>;
      const { error, isPassing } = failed;
      const waitMs = (error.retryAfter ?? 0) * 1000;
      signal?.throwIfAborted();
      const pastMs = Date.now() - start;
      const isHeld = error.error === IN_USE && pastMs < HELD_MS;
      // A request that was one too many did nothing.
      const mayRepeat = isPassing && (isGet || isKeyed || error.status === 429) && tries < TRIES;
      if (!isHeld && (!mayRepeat || waitMs > ANSWER_MS || pastMs > ANSWER_MS)) throw error;
      await pause(waitMs || FIRST_WAIT_MS * 2 ** Math.min(tries - 1, 2) * (1 + Math.random()), signal);
    }
  };
}

/** Ends with either. */
export function either(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return AbortSignal.any(other ? [one, other] : [one]);
}

/** The vault is at the same request still. */
export const IN_USE = 'idempotency_key_in_use';

/** A key for a request that may be repeated; also where the page has no secure origin. */
export function newKey(): string {
  return toHex(random(16));
}

/** The members of a vault's answer that it refuses by, and of a probe's. */
type Said = Partial<Record<'hint' | 'reason' | 'limit', string> & Record<'error' | 'ok', unknown>>;

type Outcome = { readonly answer: unknown } | { readonly error: VaultClientError; readonly isPassing: boolean };

/** Rejects where the connection breaks in the middle of the body. */
async function readAnswer(response: Response, origin: string): Promise<Outcome> {
  const { status, headers, ok } = response;
  const said = parseJson(await response.text());
  const isJson = typeof said === 'object' && said !== null;
  const { error, hint, reason, limit, ok: isFine } = (said ?? {}) as Said;
  if (ok && isJson) return { answer: said };
  const retryAfter = secondsOf(headers.get('retry-after'));
  if (typeof error === 'string') {
    const parts = { status, retryAfter, hint, reason, limit };
    return { error: new VaultClientError(error, parts), isPassing: isPassing(status, error, retryAfter) };
  }
  // A JSON-RPC error is an answer of the bundler's protocol, and a vault that is not ready says why. All else that has
  // no word comes from a proxy on the way.
  if (isJson && (typeof error === 'object' || isFine === false)) return { answer: said };
  const isAway = status === 429 || status > 501;
  const fallen = isAway
    ? fault('unreachable', { status, retryAfter, hint: silence(origin) })
    : fault('unexpected_answer', { status, hint: `No vault answers at ${origin}.` });
  return { error: fallen, isPassing: isAway };
}

function silence(origin: string): string {
  return `No answer from ${origin}. Try again.`;
}

/** Whether the same request can succeed in a moment. A code that was not delivered counts, so it is not sent again. */
function isPassing(status: number, error: string, retryAfter: number | undefined): boolean {
  return ((status === 429 || status === 503) && retryAfter !== undefined) || /^(?:rpc|indexer)_error$/.test(error);
}

/** RFC 9110 section 10.2.3: seconds, or a date. */
function secondsOf(after: string | null): number | undefined {
  if (after === null) return undefined;
  const seconds = Number(after);
  const until = Number.isNaN(seconds) ? (Date.parse(after) - Date.now()) / 1000 : seconds;
  return Number.isNaN(until) ? undefined : Math.max(0, Math.ceil(until));
}

/** Waits for something of the page's. Rejects with the reason of `signal`, at once. */
export function until<T>(given: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => reject(signal?.reason);
    signal?.addEventListener('abort', end, { once: true });
    Promise.resolve(given)
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', end));
  });
}

/** Waits. Rejects with the reason of `signal`. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return until(passed, signal).finally(() => clearTimeout(timer));
}
