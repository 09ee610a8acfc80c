import type { Clock } from './clock.ts';
import type { Metrics } from './metrics.ts';

/**
 * Why an upstream call failed. `refused` (a status it cannot use) and `malformed` (a body it cannot read) are for the
 * caller that reads the reply.
 */
export type UpstreamFault = 'unreachable' | 'timeout' | 'redirect' | 'oversize' | 'refused' | 'malformed';

/**
 * A failed upstream call, safe to log: it contains no URL, header or upstream text. `detail` is a status or a system
 * error code.
 */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly fault: UpstreamFault;
  /** The upstream surely did nothing: it was not reached, or its caller knows that it refused. */
  readonly reachedNobody: boolean;

  constructor(fault: UpstreamFault, detail?: string, reachedNobody = fault === 'unreachable' && wasNotSent(detail)) {
    super(detail === undefined ? fault : `${fault} (${detail})`);
    this.fault = fault;
    this.reachedNobody = reachedNobody;
  }
}

/** One request to an upstream, as plain data. */
export interface UpstreamRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Bounds of one call: the total time, and the reply's body in bytes after decompression. */
export interface UpstreamLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** The answer with any status; redirects never get here. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly text: string;
}

/** The part of Fetch that upstream calls need. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Makes one bounded request that follows no redirect. Throws only `UpstreamError`. */
export function callUpstream(
  outside: Outside,
  request: UpstreamRequest,
  limits: UpstreamLimits,
): Promise<UpstreamAnswer> {
  return callUpstreamWith(outside, request, limits.timeoutMs, (response) => readText(response, limits.maxBytes));
}

/** As `callUpstream`, with a custom body reader inside the same timeout. */
export async function callUpstreamWith<T>(
  { fetch: send, clock }: Outside,
  request: UpstreamRequest,
  timeoutMs: number,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { url, ...init } = request;
  const controller = new AbortController();
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () => reject(new UpstreamError('timeout')));
  });
  try {
    // `send` is called unbound because Workers refuse their `fetch` with another `this`.
    const answer = send(url, { ...init, redirect: 'manual', signal: controller.signal }).then((response) => {
      const { status, type } = response;
      if (type === 'opaqueredirect' || (status >= 300 && status < 400)) throw new UpstreamError('redirect');
      return read(response);
    });
    // A race in addition to the abort bounds a `fetch` that ignores its signal.
    return await Promise.race([answer, late]);
  } catch (error) {
    controller.abort();
    throw error instanceof UpstreamError ? error : new UpstreamError('unreachable', systemCode(error));
  } finally {
    cancel();
  }
}

/** Runs one upstream call and records its duration and outcome: `ok`, the fault, or `error` for anything else. */
export async function measureUpstream<T>(
  { metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock },
  upstream: string,
  call: () => Promise<T>,
): Promise<T> {
  const requests = metrics.counter('vault_upstream_requests_total');
  const duration = metrics.histogram('vault_upstream_duration_seconds');
  const start = clock.monotonic();
  let outcome = 'ok';
  try {
    const answer = await call();
    metrics.calls.record(upstream, clock.now());
    return answer;
  } catch (error) {
    metrics.calls.record(upstream, clock.now(), error);
    outcome = error instanceof UpstreamError ? error.fault : 'error';
    throw error;
  } finally {
    requests.add({ upstream, outcome });
    duration.observe((clock.monotonic() - start) / 1000, { upstream });
  }
}

interface Outside {
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** Reads a body of at most so many bytes. Throws `UpstreamError` for a larger one. */
export async function readText(response: Response, maxBytes: number): Promise<UpstreamAnswer> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const chunk of chunks(response)) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new UpstreamError('oversize');
    text += decoder.decode(chunk, { stream: true });
  }
  return { status: response.status, text: text + decoder.decode() };
}

async function* chunks(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) yield next.value;
}

/** The runtimes' codes for a connection that was never made. */
const NOT_CONNECTED = [
  'ConnectionRefused',
  'FailedToOpenSocket',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

function wasNotSent(code: string | undefined): boolean {
  return code !== undefined && NOT_CONNECTED.includes(code);
}

/** A code such as `ECONNREFUSED`; the message is left out because runtimes put the URL in it. */
function systemCode(error: unknown): string | undefined {
  // Node has it in the cause of its "fetch failed".
  const one = error instanceof Error && !('code' in error) && error.cause instanceof Error ? error.cause : error;
  const code = one instanceof Error && 'code' in one ? one.code : undefined;
  return typeof code === 'string' && /^[A-Za-z0-9_]{1,40}$/.test(code) ? code : undefined;
}
