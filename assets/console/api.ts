import { FILE_TIMEOUT_MS, REQUEST_TIMEOUT_MS } from './limits.ts';

/** A refusal: the status of the answer (0 without an answer) and its error word. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  constructor(status: number, word: string) {
    super(word);
    this.status = status;
  }
}

/** A token of the stream as the vault issues it. */
export interface Minted {
  readonly token: string;
  readonly expires_at: string;
  readonly cid: string;
}

/** The operator's routes, called with the secret in a header, never in a URL. All throw `ApiError`. */
export interface Api {
  get(path: string, query?: Readonly<Record<string, string>>): Promise<unknown>;
  post(path: string, body: Readonly<Record<string, unknown>>, timeoutMs?: number): Promise<unknown>;
  /** A file, and the query of the one that has the rest. */
  file(path: string, query: URLSearchParams): Promise<{ readonly file: Blob; readonly next: URLSearchParams | null }>;
  /** A token for these channels of the app, all if absent. Replacing one that is still good makes no event. */
  mint(app: string, channels: readonly string[] | undefined, renews: string | null): Promise<Minted>;
}

/** Creates the API. `onUnauthorized` is called when the vault no longer accepts the secret. */
export function createApi(secret: () => string, onUnauthorized: () => void): Api {
  const send = async (path: string, init: RequestInit, ms: number): Promise<Response> => {
    const headers = { Authorization: `Bearer ${secret()}`, ...init.headers };
    const signal = AbortSignal.timeout(ms);
    const response = await fetch(`/v1/console/${path}`, { ...init, headers, signal, cache: 'no-store' }).catch(
      unanswered,
    );
    if (response.ok) return response;
    const answer: unknown = await response.json().catch(() => undefined);
    const word = (answer as { error?: string } | undefined)?.error ?? `status ${response.status}`;
    if (word === 'operator_unauthorized') onUnauthorized();
    throw new ApiError(response.status, word);
  };
  const ask = async (path: string, init: RequestInit, timeoutMs = REQUEST_TIMEOUT_MS): Promise<unknown> =>
    (await send(path, init, timeoutMs)).json().catch(() => undefined);
  const post: Api['post'] = (path, body, timeoutMs) => {
    const headers = { 'Content-Type': 'application/json' };
    return ask(path, { method: 'POST', body: JSON.stringify(body), headers }, timeoutMs);
  };
  return {
    get: (path, query) => ask(query ? `${path}?${new URLSearchParams(query)}` : path, {}),
    post,
    async file(path, query) {
      const response = await send(`${path}?${query}`, {}, FILE_TIMEOUT_MS);
      const [, next] = /^<[^>?]*\?([^>]*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
      const file = await response.blob().catch(unanswered);
      return { file, next: next === undefined ? null : new URLSearchParams(next) };
    },
    mint: (app, channels, renews) => {
      const of = channels === undefined ? {} : { channel: channels.join(',') };
      return post('token', { app, ...of, ...(renews === null ? {} : { renews }) }) as Promise<Minted>;
    },
  };
}

function unanswered(): never {
  throw new ApiError(0, 'the vault does not answer');
}
