import { type Clock, isoTime } from '../base/clock.ts';
import { callUpstreamWith, type Fetch, measureUpstream, UpstreamError } from '../base/http-client.ts';
import type { Metrics } from '../base/metrics.ts';
import { type WebhookMessage, webhookHeaders } from '../base/webhook-signature.ts';
import type { StoredEvent } from '../events/catalogue.ts';
import { RETRY_AFTER_STATUSES } from './retries.ts';

/** How long one attempt may take, unless the receiver hangs again and again. */
export const WEBHOOK_TIMEOUT_MS = 10_000;

/** The result of one attempt; `retryAfterMs` is the `Retry-After` of `RETRY_AFTER_STATUSES`. */
export type AttemptResult =
  | { readonly ok: true; readonly status: number }
  | { readonly ok: false; readonly status: number | null; readonly error: string; readonly retryAfterMs?: number };

/**
 * The `webhook-id` of an event, by which receivers detect repeated attempts. It contains the time, so that ids stay
 * unique when the database is recreated.
 */
export function webhookId({ id, at }: Pick<StoredEvent, 'id' | 'at'>): string {
  return `evt_${id}_${at}`;
}

/** The JSON body for an event (`docs/webhooks.md`). */
export function webhookBody({ id, app, channel, type, at, data, operator = null }: StoredEvent): string {
  const by = operator === null ? {} : { operator };
  const head = JSON.stringify({ type, timestamp: isoTime(at), id, app, channel, ...by });
  return `${head.slice(0, -1)},"data":${data}}`;
}

interface Outside {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

interface Receiver {
  readonly url: string;
  readonly secrets: readonly Uint8Array[];
}

/**
 * Makes one attempt. Follows no redirect, waits `timeoutMs` for the status and does not read the body. Never throws.
 */
export async function postWebhook(
  outside: Outside,
  { url, secrets }: Receiver,
  message: WebhookMessage,
  timeoutMs: number,
): Promise<AttemptResult> {
  const headers = webhookHeaders(secrets, message, outside.clock.now());
  const request = { url, method: 'POST', headers, body: message.body } as const;
  let refusal: AttemptResult | undefined;
  try {
    return await measureUpstream(outside, 'webhook', async () => {
      const result = await callUpstreamWith(outside, request, timeoutMs, async (response) =>
        readStatus(response, outside.clock),
      );
      if (result.ok) return result;
      refusal = result;
      throw new UpstreamError('refused');
    });
  } catch (error) {
    const reason = error instanceof UpstreamError ? error.message : 'error';
    return refusal ?? { ok: false, status: null, error: reason };
  }
}

/** The body is cancelled: nothing in it is needed, and it may never end. */
function readStatus(response: Response, clock: Clock): AttemptResult {
  response.body?.cancel().catch(() => undefined);
  const { status } = response;
  if (status >= 200 && status < 300) return { ok: true, status };
  const retryAfter = RETRY_AFTER_STATUSES.includes(status) ? response.headers.get('retry-after') : null;
  const retryAfterMs = parseRetryAfter(retryAfter, clock);
  return { ok: false, status, error: 'status', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** RFC 9110 §10.2.3: seconds or a date. */
function parseRetryAfter(text: string | null, clock: Clock): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock.now());
}
