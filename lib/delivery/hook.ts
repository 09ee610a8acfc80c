/** Mail and text messages by a server of the operator's, which gets each as a webhook (standardwebhooks.com). */

import { type Clock, isoTime } from '../base/clock.ts';
import { callUpstreamWith, type Fetch, measureUpstream, UpstreamError } from '../base/http-client.ts';
import type { Metrics } from '../base/metrics.ts';
import { type Random, randomId } from '../base/random.ts';
import { webhookHeaders } from '../base/webhook-signature.ts';
import { UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { createContents, MACHINE_HEADERS, type MailSettings, senderOf } from './mail.ts';
import { measureDelivery } from './measure.ts';
import { smsText } from './message.ts';
import type { CheckContext, CheckResult, CodeMail, DeliveryContext, DeliveryProvider, OwnSms } from './provider.ts';

/** The settings of the hooks. */
export interface EmailHookSettings {
  readonly emailHookUrl?: string | undefined;
  readonly emailHookSecret?: readonly Uint8Array[] | undefined;
}
/** The same for text messages. */
export interface SmsHookSettings {
  readonly smsHookUrl?: string | undefined;
  readonly smsHookSecret?: readonly Uint8Array[] | undefined;
}

type HookContext<Settings> = DeliveryContext<MailSettings & Settings> & { readonly random: Random };

/** Mail by a hook. */
export const emailHook = {
  name: 'hook',
  needs: ['EMAIL_HOOK_URL', 'EMAIL_HOOK_SECRET'],
  takes: ['EMAIL_FROM'],
  remedy: 'start the server of EMAIL_HOOK_URL, and allow connections to it',
  create(outside: HookContext<EmailHookSettings>) {
    const hook = emailHookOf(outside.config);
    const contentOf = createContents(outside);
    const { emailFrom } = outside.config;
    return async (message: CodeMail) => {
      const { subject, text, html } = await contentOf(message);
      const brand = outside.brandOf(message.app);
      const from = emailFrom === undefined ? null : senderOf(emailFrom, brand);
      const own = { subject, text, html, from, reply_to: brand.support ?? null, headers: MACHINE_HEADERS };
      await post(outside, hook, { ...messageOf(outside, 'email', message), ...own }, message.messageId);
    };
  },
  check: (outside: CheckContext<EmailHookSettings>) => tryHook(outside, emailHookOf(outside.config)),
} as const satisfies DeliveryProvider;

const SMS = { channel: 'sms', provider: 'hook', failure: 'sms_send_failed' } as const;

/** Text messages by a hook. */
export const smsHook = {
  name: 'hook',
  needs: ['SMS_HOOK_URL', 'SMS_HOOK_SECRET', 'SMS_COUNTRIES'],
  costs: true,
  remedy: 'start the server of SMS_HOOK_URL, and allow connections to it',
  create(outside: HookContext<SmsHookSettings>): OwnSms {
    const hook = smsHookOf(outside.config);
    const { baseUrl, credentialTtlSeconds: credentialSeconds } = outside.config;
    const { host } = new URL(baseUrl);
    const send = async (message: CodeMail) => {
      const { app, language } = message;
      const text = smsText(message, {
        brand: outside.brandOf(app),
        host,
        credentialSeconds,
        language,
        ...(await outside.wordsOf(language)),
      });
      await post(outside, hook, { ...messageOf(outside, 'sms', message), text }, message.messageId);
    };
    return { kind: 'own', send: (message) => measureDelivery(outside, SMS, () => send(message)) };
  },
  check: (outside: CheckContext<SmsHookSettings>) => tryHook(outside, smsHookOf(outside.config)),
} as const satisfies DeliveryProvider;

/** The URL that messages are posted to, and the secrets that sign them. */
interface Hook {
  readonly name: 'EMAIL_HOOK' | 'SMS_HOOK';
  readonly url: string;
  readonly secrets: readonly Uint8Array[];
}

function emailHookOf({ emailHookUrl: url, emailHookSecret: secrets }: EmailHookSettings): Hook {
  if (url === undefined || secrets === undefined)
    throw new Error('EMAIL_PROVIDER=hook needs EMAIL_HOOK_URL and EMAIL_HOOK_SECRET');
  return { name: 'EMAIL_HOOK', url, secrets };
}

function smsHookOf({ smsHookUrl: url, smsHookSecret: secrets }: SmsHookSettings): Hook {
  if (url === undefined || secrets === undefined)
    throw new Error('SMS_PROVIDER=hook needs SMS_HOOK_URL and SMS_HOOK_SECRET');
  return { name: 'SMS_HOOK', url, secrets };
}

/** The members that mails and text messages have in common (`docs/hooks.md`). */
function messageOf({ clock, brandOf }: HookContext<unknown>, channel: 'email' | 'sms', message: CodeMail) {
  const { to, code = null, pass = null, language, app, lifetimeSeconds } = message;
  const expiresAt = lifetimeSeconds === 0 ? null : isoTime(clock.now() + lifetimeSeconds * 1000);
  const about = { language, app, brand: brandOf(app).name, expires_at: expiresAt };
  return { channel, to, kind: kindOf(message), code, link: pass, ...about };
}

/** The kind of a message, by the names that the console shows too. */
function kindOf({ code, purpose = 'registration', notice, recovery, challenge, passkey }: CodeMail): string {
  if (passkey !== undefined) return 'passkey_new';
  if (challenge !== undefined) return `challenge_${challenge.status}`;
  if (recovery !== undefined) return `recovery_${recovery.kind === 'ended' ? recovery.status : recovery.kind}`;
  return notice ?? (code === undefined ? 'pass' : `code.${purpose}`);
}

interface Outside {
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** Posts a message once; one that is sent again keeps its id. Throws `UpstreamError` unless it was accepted. */
function post(
  outside: Outside & { readonly metrics: Metrics; readonly random: Random },
  hook: Hook,
  data: object,
  messageId = randomId(outside.random),
): Promise<void> {
  const id = `msg_${messageId}`;
  return measureUpstream(outside, hook.name.toLowerCase(), async () => {
    const status = await postSigned(outside, hook, { id, type: 'message.send', data: { id, ...data } });
    if (status < 200 || status > 299) throw new UpstreamError('refused', String(status), OWN_REFUSALS.includes(status));
  });
}

/** Statuses that say nothing of the recipient, and that nothing was sent: the send costs its client nothing. */
const OWN_REFUSALS = [401, 410, 429, 503];

/** A posted message: its id, its type, and its data if any. */
interface Posted {
  readonly id: string;
  readonly type: 'message.send' | 'ping';
  readonly data?: object;
}

/** The status of the answer; the body is cancelled: nothing in it is needed, and it may never end. */
function postSigned(
  { fetch, clock }: Outside,
  { url, secrets }: Hook,
  { id, type, data = {} }: Posted,
): Promise<number> {
  const now = clock.now();
  const body = JSON.stringify({ type, timestamp: isoTime(now), data });
  const request = { url, method: 'POST', headers: webhookHeaders(secrets, { id, body }, now), body } as const;
  return callUpstreamWith({ fetch, clock }, request, UPSTREAM_TIMEOUT_MS, async (response) => {
    response.body?.cancel().catch(() => undefined);
    return response.status;
  });
}

/** Posts two pings, which send nothing: a signed one, which must be accepted, and one signed with a secret of zeros. */
async function tryHook(outside: Outside, hook: Hook): Promise<readonly CheckResult[]> {
  const ping = { id: `msg_ping_${outside.clock.now()}`, type: 'ping' } as const;
  const { name } = hook;
  const status = await postSigned(outside, hook, ping);
  if (status === 401)
    return [{ state: 'fail', text: `the server of ${name}_URL refuses the signature (401)`, remedy: remedyOf(name) }];
  if (status < 200 || status > 299) {
    const text = `the server of ${name}_URL answers a signed ping with ${status}`;
    return [{ state: 'fail', text, remedy: 'answer every type but message.send with 204 (docs/hooks.md)' }];
  }
  const forged = await postSigned(outside, { ...hook, secrets: [new Uint8Array(32)] }, ping);
  if (forged >= 200 && forged <= 299) {
    const text = `the server of ${name}_URL accepts a ping that ${name}_SECRET did not sign`;
    return [{ state: 'warn', text, remedy: 'verify webhook-signature: without, anyone who reaches it sends as you' }];
  }
  return [{ state: 'ok', text: 'the server takes signed requests, and refuses others; nothing was sent' }];
}

function remedyOf(name: Hook['name']): string {
  return `set ${name}_SECRET to the secret that this server verifies with`;
}
