/** Mail over the Resend HTTP API: https://resend.com/docs/api-reference/emails/send-email. */

import type { Clock } from '../base/clock.ts';
import { callUpstream, type Fetch, measureUpstream, UpstreamError } from '../base/http-client.ts';
import { isObject, parseJson } from '../base/json.ts';
import { type Random, randomId } from '../base/random.ts';
import { MESSAGE_ANSWER_BYTES_MAX, UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { MACHINE_HEADERS, type Mail, type MailSettings, mailOf } from './mail.ts';
import type { CheckContext, CheckResult, CodeMail, DeliveryContext, DeliveryProvider } from './provider.ts';

/** The settings of Resend. */
export interface ResendSettings {
  readonly resendApiKey?: string | undefined;
  readonly resendApiUrl: string;
}

/** Mail by Resend. */
export const resend = {
  name: 'resend',
  needs: ['RESEND_API_KEY', 'EMAIL_FROM'],
  remedy: 'allow connections to RESEND_API_URL',
  create(outside: DeliveryContext<MailSettings & ResendSettings> & { readonly random: Random }) {
    const compose = mailOf('resend', outside);
    const { resendApiKey: apiKey, resendApiUrl: apiUrl } = outside.config;
    if (apiKey === undefined) throw new Error('EMAIL_PROVIDER=resend needs RESEND_API_KEY');
    return (message: CodeMail) =>
      measureUpstream(outside, 'resend', async () =>
        sendWithResend(
          outside,
          { apiUrl, apiKey },
          await compose(message),
          message.messageId ?? randomId(outside.random),
        ),
      );
  },
  /** A key that may only send is refused with a word of its own, which says that it is a key. */
  async check({ config, fetch, clock }: CheckContext<ResendSettings>): Promise<readonly CheckResult[]> {
    const headers = { accept: 'application/json', authorization: `Bearer ${config.resendApiKey}` };
    const request = { url: `${config.resendApiUrl}/domains`, method: 'GET', headers } as const;
    const { status, text } = await callUpstream({ fetch, clock }, request, LIMITS);
    if (status === 200)
      return [{ state: 'ok', text: 'Resend accepts the key; only a real mail shows whether it accepts EMAIL_FROM' }];
    if (text.includes('restricted_api_key'))
      return [{ state: 'ok', text: 'Resend accepts the key, which may only send' }];
    const refused = `Resend refuses the key (${status})`;
    if (status === 400 || status === 401 || status === 403)
      return [{ state: 'fail', text: refused, remedy: 'set RESEND_API_KEY to a valid key' }];
    return [{ state: 'skip', text: `Resend answers ${status}: only a real mail shows whether it works` }];
  },
} as const satisfies DeliveryProvider;

const LIMITS = { timeoutMs: UPSTREAM_TIMEOUT_MS, maxBytes: MESSAGE_ANSWER_BYTES_MAX };

/** Statuses that lie with the key or the account and not with the recipient: nothing was sent. */
const OWN_REFUSALS = [401, 429];

/** The base URL of the API (no trailing slash) and its key. */
interface ResendAccount {
  readonly apiUrl: string;
  readonly apiKey: string;
}

/**
 * Sends one mail. `idempotencyKey` (one per mail) makes a request harmless that the runtime repeats on a
 * broken connection. Throws `UpstreamError` unless the mail was accepted with an id.
 */
async function sendWithResend(
  outside: { readonly fetch: Fetch; readonly clock: Clock },
  { apiUrl, apiKey }: ResendAccount,
  { from, to, replyTo, subject, text, html, messageId }: Mail,
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
    body: JSON.stringify({
      ...{ from, to, reply_to: replyTo, subject, text, html },
      headers: { ...MACHINE_HEADERS, ...(messageId === undefined ? {} : { 'Message-ID': messageId }) },
    }),
  } as const;
  const answer = await callUpstream(outside, request, LIMITS);
  const { status } = answer;
  if (status < 200 || status > 299) throw new UpstreamError('refused', String(status), OWN_REFUSALS.includes(status));
  const mail = parseJson(answer.text);
  if (!isObject(mail) || typeof mail['id'] !== 'string') throw new UpstreamError('malformed');
}
