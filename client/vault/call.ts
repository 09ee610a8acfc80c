import { fault, VaultClientError } from './error.ts';
import type { AnswerOf, InputOf, OperationName } from './wire.ts';

/** Where the vault is, and how it is asked. */
export interface Place {
  /** The vault's origin. */
  readonly url: string;
  /** The app that the events of the requests belong to (`X-Vault-App`). */
  readonly app?: string | undefined;
  /** The operator's secret, for the operations under `/v1/console`. Never in a page. */
  readonly operatorSecret?: string | undefined;
  /** In the place of the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
}

/** How one call is made. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** A repeated call with the same key gets the first one's answer. Without it each call has a key of its own. */
  readonly idempotencyKey?: string | undefined;
  /** The language of what is sent to people. */
  readonly language?: string | undefined;
}

/** Asks the vault. Throws `VaultClientError`, and the reason of `signal`. */
export type Call = <Name extends OperationName>(
  name: Name,
  input?: InputOf<Name>,
  options?: CallOptions,
) => Promise<AnswerOf<Name>>;

/** They take an `Idempotency-Key`. */
const KEYED: ReadonlySet<string> = new Set<OperationName>([
  'POST /api/verify/send',
  'POST /api/sessions',
  'POST /api/dids',
]);

const TRIES = 4;
/** A longer wait is the caller's decision. */
const WAIT_SECONDS_MAX = 30;
const FIRST_WAIT_MS = 300;
/** A relayed registration is answered within 20 seconds. */
const ANSWER_MS = 30_000;

/** The calls of one vault. */
export function createCall({ url, app, operatorSecret, fetch: ask = globalThis.fetch }: Place): Call {
  const common: Record<string, string> = { ...(app === undefined ? {} : { 'x-vault-app': app }) };
  return async (name, input, { signal, language, idempotencyKey = crypto.randomUUID() } = {}) => {
    const [method = '', path = ''] = name.split(' ');
    const isGet = method === 'GET';
    const isKeyed = KEYED.has(name);
    const target = new URL(path, url);
    const headers = { ...common };
    if (isGet) for (const [key, value] of membersOf(input)) target.searchParams.set(key, String(value));
    else headers['content-type'] = 'application/json';
    if (isKeyed) headers['idempotency-key'] = idempotencyKey;
    if (language !== undefined) headers['accept-language'] = language;
    if (path.startsWith('/v1/')) headers['authorization'] = `Bearer ${operatorSecret}`;
    const body = isGet ? {} : { body: JSON.stringify(input ?? {}) };
    for (let tries = 1; ; tries++) {
      signal?.throwIfAborted();
      const limits = [AbortSignal.timeout(ANSWER_MS), ...(signal ? [signal] : [])];
      const failed = await ask
        .call(undefined, target, { method, headers, ...body, signal: AbortSignal.any(limits) })
        .then(readAnswer, (cause) => ({ error: fault('unreachable', { cause }), isPassing: true }));
      if (!('error' in failed)) return failed.answer as AnswerOf<typeof name>;
      const { error, isPassing } = failed;
      const waitSeconds = error.retryAfter ?? 0;
      signal?.throwIfAborted();
      if (!isPassing || !(isGet || isKeyed) || tries === TRIES || waitSeconds > WAIT_SECONDS_MAX) throw error;
      await pause(waitSeconds * 1000 || FIRST_WAIT_MS * 2 ** (tries - 1) * (1 + Math.random()), signal);
    }
  };
}

function membersOf(input: object | undefined): [string, unknown][] {
  return Object.entries(input ?? {}).filter(([, value]) => value !== undefined && value !== null);
}

type Outcome = { readonly answer: unknown } | { readonly error: VaultClientError; readonly isPassing: boolean };

async function readAnswer(response: Response): Promise<Outcome> {
  const { status, headers } = response;
  const said: unknown = await response.json().catch(() => undefined);
  const isJson = typeof said === 'object' && said !== null;
  if (response.ok && isJson) return { answer: said };
  const { error, hint, reason, limit } = (said ?? {}) as Readonly<Record<string, unknown>>;
  const after = headers.get('retry-after');
  const retryAfter = after === null ? undefined : Number(after) || 0;
  if (typeof error === 'string') {
    const parts = { status, retryAfter, hint: textOf(hint), reason: textOf(reason), limit: textOf(limit) };
    return { error: new VaultClientError(error, parts), isPassing: isPassing(status, error, after !== null) };
  }
  // A JSON-RPC error is an answer of the bundler's protocol. All else that is no JSON comes from a proxy on the way.
  if (isJson && !response.ok && typeof error === 'object') return { answer: said };
  const isAway = status === 429 || status > 501;
  return { error: fault(isAway ? 'unreachable' : 'unexpected_answer', { status, retryAfter }), isPassing: isAway };
}

/** Whether the same request can succeed in a moment. A code that was not delivered counts, so it is not sent again. */
function isPassing(status: number, error: string, saysWhen: boolean): boolean {
  if (status === 409) return error === 'idempotency_key_in_use';
  return ((status === 429 || status === 503) && saysWhen) || error === 'rpc_error' || error === 'indexer_error';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Waits. Rejects with the reason of `signal`. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Waits. */
export const pause: Pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
