/** Mail over the Resend HTTP API: https://resend.com/docs/api-reference/emails/send-email. */

import type { Clock } from '../base/clock.ts';
import { callUpstream, type Fetch, UpstreamError } from '../base/http-client.ts';
import { isObject, parseJson } from '../base/json.ts';
import { MESSAGE_ANSWER_BYTES_MAX, UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import type { Mail } from './message.ts';

/** Where the API is (no trailing slash) and the key that opens it. */
export interface ResendAccount {
  readonly apiUrl: string;
  readonly apiKey: string;
}

/**
 * Hands one mail over. `idempotencyKey` (random, one per mail) makes a request that the runtime repeats on a broken connection harmless.
 * Throws `UpstreamError` unless the mail was accepted under an id.
 */
export async function sendWithResend(
  outside: { readonly fetch: Fetch; readonly clock: Clock },
  { apiUrl, apiKey }: ResendAccount,
  { from, to, subject, text, html }: Mail,
  idempotencyKey: string,
): Promise<void> {
  const request = {
    url: `${apiUrl}/emails`,
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ from, to, subject, text, html }),
  } as const;
  const limits = { timeoutMs: UPSTREAM_TIMEOUT_MS, maxBytes: MESSAGE_ANSWER_BYTES_MAX };
  const answer = await callUpstream(outside, request, limits);
  if (answer.status < 200 || answer.status > 299) throw new UpstreamError('refused', String(answer.status));
  const mail = parseJson(answer.text);
  if (!isObject(mail) || typeof mail['id'] !== 'string') throw new UpstreamError('malformed');
}
