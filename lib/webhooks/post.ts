import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8 } from '../base/bytes.ts';
import { type Clock, isoTime } from '../base/clock.ts';
import { askUpstream, type Fetch, measureUpstream, UpstreamError } from '../base/http-client.ts';
import type { Metrics } from '../base/metrics.ts';
import type { StoredEvent } from '../events/catalogue.ts';

/** How long an attempt may take. */
export const WEBHOOK_TIMEOUT_MS = 10_000;

// Standard Webhooks (standardwebhooks.com, specification 1.0).

/** One message to a receiver; `id` stays the same over all attempts. */
export interface WebhookMessage {
  readonly id: string;
  readonly body: string;
}

/** What a receiver made of an attempt; `retryAfterMs` where it named a time. */
export type WebhookAnswer =
  | { readonly ok: true; readonly status: number }
  | { readonly ok: false; readonly status: number | null; readonly error: string; readonly retryAfterMs?: number };

/** The id that a receiver tells repeated attempts by: the same for all of one event, and another after a database was made anew. */
export function webhookId({ id, at }: Pick<StoredEvent, 'id' | 'at'>): string {
  return `evt_${id}_${at}`;
}

/** What is posted of an event. */
export function webhookBody({ id, app, channel, type, at, data }: StoredEvent): string {
  const head = JSON.stringify({ type, timestamp: isoTime(at), id, app, channel });
  return `${head.slice(0, -1)},"data":${data}}`;
}

/** The value of `webhook-signature`: one signature a secret, over id, timestamp (seconds) and body. */
export function signWebhook(secrets: readonly Uint8Array[], { id, body }: WebhookMessage, seconds: number): string {
  const signed = utf8(`${id}.${seconds}.${body}`);
  return secrets.map((secret) => `v1,${btoa(String.fromCharCode(...hmac(sha256, secret, signed)))}`).join(' ');
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

/** Makes one attempt. Follows no redirect, waits `WEBHOOK_TIMEOUT_MS` for the status and reads nothing of the body. Never throws. */
export async function postWebhook(
  outside: Outside,
  { url, secrets }: Receiver,
  message: WebhookMessage,
): Promise<WebhookAnswer> {
  const seconds = Math.floor(outside.clock.now() / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'vault',
    'webhook-id': message.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signWebhook(secrets, message, seconds),
  };
  const request = { url, method: 'POST', headers, body: message.body } as const;
  let refusal: WebhookAnswer | undefined;
  try {
    return await measureUpstream(outside, 'webhook', async () => {
      const answer = await askUpstream(outside, request, WEBHOOK_TIMEOUT_MS, async (response) =>
        readStatus(response, outside.clock),
      );
      if (answer.ok) return answer;
      refusal = answer;
      throw new UpstreamError('refused');
    });
  } catch (error) {
    const reason = error instanceof UpstreamError ? error.message : 'error';
    return refusal ?? { ok: false, status: null, error: reason };
  }
}

/** A body is of no use here, and may never end. */
function readStatus(response: Response, clock: Clock): WebhookAnswer {
  response.body?.cancel().catch(() => undefined);
  const { status } = response;
  if (status >= 200 && status < 300) return { ok: true, status };
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), clock);
  return { ok: false, status, error: 'status', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** RFC 9110 §10.2.3: seconds or a date. */
function parseRetryAfter(text: string | null, clock: Clock): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock.now());
}
