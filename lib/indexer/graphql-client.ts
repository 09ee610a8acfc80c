import * as v from 'valibot';
import type { Clock } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { callUpstream, type Fetch, measureUpstream, UpstreamError } from '../base/http-client.ts';
import { parseJson } from '../base/json.ts';
import type { Metrics } from '../base/metrics.ts';
import { UPSTREAM_TIMEOUT_MS } from '../constants.ts';

/** The longest answer of the indexer that is read. */
const INDEXER_ANSWER_BYTES_MAX = 64 * 1024;

/**
 * Asks the upstream indexer (`INDEXER_URL`); `path` and parameters are never a caller's text. Throws 502
 * `indexer_error`, 504 `indexer_timeout`.
 */
export type AskIndexer = (path: string, parameters: Readonly<Record<string, string>>) => Promise<unknown>;

/** A client of the indexer at `url`, which may contain a key and appears in no message. */
export function createAskIndexer(outside: Outside & { readonly url: string }): AskIndexer {
  return async (path, parameters) => {
    const url = new URL(outside.url);
    url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const request = { url: url.href, method: 'GET', headers: { accept: 'application/json' } } as const;
    const limits = { timeoutMs: UPSTREAM_TIMEOUT_MS, maxBytes: INDEXER_ANSWER_BYTES_MAX };
    return measureUpstream(outside, 'indexer', async () => {
      const { status, text } = await callUpstream(outside, request, limits);
      if (status !== 200) throw new UpstreamError('refused', `${status}`);
      const answer = parseJson(text);
      if (answer === undefined) throw new UpstreamError('malformed');
      return answer;
    }).catch((cause) => {
      const isLate = cause instanceof UpstreamError && cause.fault === 'timeout';
      throw new VaultError(isLate ? 'indexer_timeout' : 'indexer_error', { cause });
    });
  };
}

/** Asks, and cuts the answer to its shape. Throws 502 `indexer_error` for an answer of another form. */
export async function askForShape<T>(
  ask: AskIndexer,
  question: Parameters<AskIndexer>,
  shape: v.GenericSchema<unknown, T>,
): Promise<T> {
  const result = v.safeParse(shape, await ask(...question));
  if (!result.success) throw new VaultError('indexer_error', { cause: new UpstreamError('malformed') });
  return result.output;
}

interface Outside {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly metrics: Metrics;
}
