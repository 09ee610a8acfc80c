import type { Clock } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { callUpstream, type Fetch, measureUpstream, UpstreamError } from '../base/http-client.ts';
import type { Metrics } from '../base/metrics.ts';
import { createRedact, redactUrls } from '../base/redact.ts';
import { readMessage } from '../chain/json-rpc.ts';
import { UPSTREAM_ANSWER_BYTES_MAX } from '../constants.ts';
import { type AskedPrice, createAskedPrice } from './asked-price.ts';
import { type BundlerRpcError, readRpcError } from './errors.ts';

/** The most concurrent calls to the bundler. */
export const BUNDLER_PENDING_MAX = 1_000;

/** The answer of the bundler or paymaster; the bundler's URL and key are removed from it. */
export type BundlerOutcome = { readonly result: unknown } | { readonly error: BundlerRpcError };

/** The upstream of `POST /api/bundler`. */
export interface Bundler {
  /**
   * Sends one call, without retries. Throws 502 `bundler_error` or 504 `bundler_timeout` without an answer; the bundler
   * may have received the call all the same.
   */
  call(method: string, params: readonly unknown[], timeoutMs: number): Promise<BundlerOutcome>;
  /** Its price per unit of gas; zeros where it names none. Never rejects. */
  price(): Promise<AskedPrice>;
}

interface Outside {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** A client of the bundler at `url`, which may contain a key. It sends no batches: bundlers refuse them. */
export function createBundler({ url, ...outside }: Outside & { readonly url: string }): Bundler {
  const redact = createRedact(url);
  let lastId = 0;
  let pending = 0;
  const call: Bundler['call'] = async (method, params, timeoutMs) => {
    if (pending === BUNDLER_PENDING_MAX) throw failed(new Error('too many calls are pending'));
    const id = ++lastId;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const request = { url, method: 'POST', headers: HEADERS, body } as const;
    const limits = { timeoutMs, maxBytes: UPSTREAM_ANSWER_BYTES_MAX };
    pending++;
    try {
      const message = await measureUpstream(outside, 'bundler', async () =>
        readMessage(id, await callUpstream(outside, request, limits)),
      );
      if (message.error === undefined || message.error === null) return { result: redact(message.result) };
      return { error: readRpcError(redactUrls(redact(message.error))) };
    } catch (cause) {
      throw failed(cause);
    } finally {
      pending--;
    }
  };
  return { call, price: createAskedPrice(call, outside.clock) };
}

/** Bundlers refuse the media type with a charset. */
const HEADERS = { 'content-type': 'application/json' };

function failed(cause: unknown): VaultError {
  const isLate = cause instanceof UpstreamError && cause.fault === 'timeout';
  const code = isLate ? 'bundler_timeout' : 'bundler_error';
  return new VaultError(code, { cause });
}
