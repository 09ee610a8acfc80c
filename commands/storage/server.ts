import type { Client } from '@libsql/client/http';
import { type Clock, systemClock } from '../../lib/base/clock.ts';
import { callUpstream, UpstreamError } from '../../lib/base/http-client.ts';
import { ANSWER_TOO_LARGE, isBusy } from '../../lib/db/errors.ts';

/** How long a libSQL server may take, and the longest answer that is read. */
export const DATABASE_TIMEOUT_MS = 10_000;
const DATABASE_ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** A libSQL server and how it is called. */
export interface ServerSettings {
  readonly url: string;
  readonly authToken?: string | undefined;
  readonly maxConnections: number;
  readonly clock?: Clock;
}

/**
 * A libSQL server as its own client, for calls that the port leaves out; `intMode` bigint keeps integers exact. Throws
 * as `openDatabase` does.
 */
export async function openServer(
  { url, authToken, maxConnections, clock = systemClock }: ServerSettings,
  intMode: 'number' | 'bigint' = 'number',
): Promise<Client> {
  // Loaded only where it is needed: most vaults live on a file, and start faster without it. This entry holds no native
  // addon.
  const { createClient } = await import('@libsql/client/http');
  try {
    return createClient({
      url: withoutSockets(url),
      ...(authToken ? { authToken } : {}),
      concurrency: maxConnections,
      intMode,
      fetch: boundedFetch(clock),
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new Error(`DATABASE_URL is neither a file: URL nor the URL of a libSQL server${code}`);
  }
}

/** The URL of the server for requests other than statements. */
export function requestUrl(url: string): string {
  return withoutSockets(url).replace(/^libsql:/i, /[?&]tls=0\b/.test(url) ? 'http:' : 'https:');
}

/**
 * A server that speaks WebSocket speaks HTTP on the same port, and only there does a lost answer end by a timeout.
 */
function withoutSockets(url: string): string {
  return url.replace(/^ws(?=s?:)/i, 'http');
}

/**
 * Whether a libSQL server was not there, not well, or busy for too long: it may be later. One that refuses the token or
 * a statement never will be.
 */
export function isServerAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'SERVER_ERROR') return /HTTP status (?:5\d\d|429)/.test(error.message);
  return isBusy(error) || [NO_ANSWER, 'HRANA_PROTO_ERROR', ...LOST_TRANSACTION].includes(code);
}

/** The server's words for a transaction or a stream that it ended by itself. */
const LOST_TRANSACTION = ['TRANSACTION_TIMEOUT', 'TRANSACTION_BUSY', 'STREAM_EXPIRED'];

const NO_ANSWER = 'NO_ANSWER';
const ERROR_TEXT_MAX = 300;
const TEXT = { 'content-type': 'text/plain' };
const JSON_TYPE = { 'content-type': 'application/json' };

/**
 * The client bounds neither the time nor the size of an answer, and a runtime's errors carry the whole URL, user name
 * and password included.
 */
function boundedFetch(clock: Clock) {
  const limits = { timeoutMs: DATABASE_TIMEOUT_MS, maxBytes: DATABASE_ANSWER_BYTES_MAX };
  return async (request: Request): Promise<Response> => {
    const { url, headers } = request;
    const call = { url, method: 'POST', headers: Object.fromEntries(headers), body: await request.text() } as const;
    try {
      const { status, text } = await callUpstream({ fetch, clock }, call, limits);
      // The client puts an error's body into its message, and that into the log.
      if (status !== 200) return new Response(text.slice(0, ERROR_TEXT_MAX), { status, headers: TEXT });
      if (!/^\s*\{/.test(text) || !/\}\s*$/.test(text)) throw new UpstreamError('malformed');
      return new Response(text, { status, headers: JSON_TYPE });
    } catch (error) {
      const isTooLarge = error instanceof UpstreamError && error.fault === 'oversize';
      const message = isTooLarge ? 'The database server answers too much' : 'The database server does not answer';
      throw Object.assign(new Error(message, { cause: error }), { code: isTooLarge ? ANSWER_TOO_LARGE : NO_ANSWER });
    }
  };
}
