import { utf8 } from './bytes.ts';
import { hmacDigest } from './hmac.ts';

// Standard Webhooks (standardwebhooks.com, specification 1.0).

/** One message; `id` is the same for all attempts. */
export interface WebhookMessage {
  readonly id: string;
  readonly body: string;
}

/** The value of `webhook-signature`: one HMAC-SHA-256 per secret over id, timestamp (seconds) and body. */
export function signWebhook(secrets: readonly Uint8Array[], { id, body }: WebhookMessage, seconds: number): string {
  const signed = utf8(`${id}.${seconds}.${body}`);
  return secrets.map((secret) => `v1,${btoa(String.fromCharCode(...hmacDigest(secret)(signed)))}`).join(' ');
}

/** The headers of a signed message that leaves at `now`, in milliseconds. */
export function webhookHeaders(secrets: readonly Uint8Array[], message: WebhookMessage, now: number) {
  const seconds = Math.floor(now / 1000);
  return {
    'content-type': 'application/json',
    'user-agent': 'vault',
    'webhook-id': message.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signWebhook(secrets, message, seconds),
  };
}
