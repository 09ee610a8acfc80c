import type { Clock } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { callUpstream, type Fetch, measureUpstream, UpstreamError } from '../base/http-client.ts';
import type { Metrics } from '../base/metrics.ts';
import { createRedact, redactUrls } from '../base/redact.ts';
import { readMessage } from '../chain/json-rpc.ts';
import { UPSTREAM_ANSWER_BYTES_MAX } from '../constants.ts';
import { type BundlerFault, readFault } from './errors.ts';

/** Calls to the bundler under way. */
export const BUNDLER_PENDING_MAX = 1_000;

/** What the bundler, or the paymaster behind it, answered; its URL and key are struck out. */
export type BundlerOutcome = { readonly result: unknown } | { readonly error: BundlerFault };

/** The upstream of `POST /api/bundler`. */
export interface Bundler {
  /** Makes one call, once. Throws 502 `bundler_error` or 504 `bundler_timeout` when there is no answer; a call that failed may still have arrived. */
  call(method: string, params: readonly unknown[], timeoutMs: number): Promise<BundlerOutcome>;
}

interface Outside {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** A client of the bundler at `url`, which may hold a key. Calls are never joined to a batch: bundlers refuse those. */
export function createBundler({ url, ...outside }: Outside & { readonly url: string }): Bundler {
  const redact = createRedact(url);
  let lastId = 0;
  let pending = 0;
  return {
    async call(method, params, timeoutMs) {
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
        return { error: readFault(redactUrls(redact(message.error))) };
      } catch (cause) {
        throw failed(cause);
      } finally {
        pending--;
      }
    },
  };
}

/** Bundlers refuse the media type with a charset. */
const HEADERS = { 'content-type': 'application/json' };

function failed(cause: unknown): VaultError {
  const isLate = cause instanceof UpstreamError && cause.fault === 'timeout';
  const code = isLate ? 'bundler_timeout' : 'bundler_error';
  return new VaultError(code, { cause });
}
