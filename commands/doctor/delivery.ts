import { utf8 } from '../../lib/base/bytes.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { callUpstream, type UpstreamAnswer } from '../../lib/base/http-client.ts';
import type { Config } from '../../lib/config/config.ts';
import { MESSAGE_ANSWER_BYTES_MAX, UPSTREAM_TIMEOUT_MS } from '../../lib/constants.ts';
import { type Check, type Finding, fail, ok, skip, warn } from './finding.ts';

/** Whether mail and SMS would go out, as far as can be told without sending any. */
export function deliveryChecks(config: Config): readonly Check[] {
  return [
    { name: 'mail', remedy: MAIL_REMEDIES[config.emailProvider], run: () => checkMail(config) },
    { name: 'sms', remedy: 'allow connections to TWILIO_API_URL', run: () => checkSms(config) },
  ];
}

const MAIL_REMEDIES = {
  log: '',
  smtp: 'check SMTP_URL: host, port, user and password',
  resend: 'allow connections to RESEND_API_URL',
};

async function checkMail(config: Config): Promise<readonly Finding[]> {
  const { emailProvider, smtpUrl } = config;
  if (emailProvider === 'resend') return checkResend(config);
  if (emailProvider === 'log' || smtpUrl === undefined)
    return [warn('mail', 'codes are printed instead of mailed', 'set EMAIL_PROVIDER to smtp or resend')];
  const { smtpMailer } = await import('../mail/smtp.ts');
  const mailer = smtpMailer(smtpUrl);
  try {
    await mailer.verify();
    return [ok('mail', 'the server accepts the connection and the credentials; nothing was sent')];
  } finally {
    await mailer.close();
  }
}

/** A key that may only send is refused here with a word of its own, which tells that it is a key. */
async function checkResend({ resendApiUrl, resendApiKey }: Config): Promise<readonly Finding[]> {
  const { status, text } = await get(`${resendApiUrl}/domains`, `Bearer ${resendApiKey}`);
  if (status === 200)
    return [ok('mail', 'Resend accepts the key; only a real mail shows whether it accepts EMAIL_FROM')];
  if (text.includes('restricted_api_key')) return [ok('mail', 'Resend accepts the key, which may only send')];
  if (status === 400 || status === 401 || status === 403)
    return [fail('mail', `Resend refuses the key (${status})`, 'set RESEND_API_KEY to a valid key')];
  return [skip('mail', `Resend answers ${status}: only a real mail shows whether it works`)];
}

async function checkSms({
  smsProvider,
  twilioApiUrl,
  twilioAccountSid,
  twilioAuthToken,
  twilioVerifyServiceSid,
}: Config): Promise<readonly Finding[]> {
  if (smsProvider === 'none') return [ok('sms', 'off: no SMS are sent')];
  if (smsProvider === 'log')
    return [warn('sms', 'codes are printed instead of sent', 'set SMS_PROVIDER to twilio or none')];
  const user = btoa(String.fromCharCode(...utf8(`${twilioAccountSid}:${twilioAuthToken}`)));
  const { status } = await get(`${twilioApiUrl}/v2/Services/${twilioVerifyServiceSid}`, `Basic ${user}`);
  if (status === 200) return [ok('sms', 'Twilio accepts the account and the service; nothing was sent')];
  if (status === 401 || status === 403)
    return [fail('sms', `Twilio refuses the credentials (${status})`, 'set TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN')];
  if (status === 404)
    return [
      fail(
        'sms',
        'the account has no such Verify service',
        'set TWILIO_VERIFY_SERVICE_SID to a service of the account',
      ),
    ];
  throw new Error(`Twilio answers ${status}`);
}

function get(url: string, authorization: string): Promise<UpstreamAnswer> {
  const request = { url, method: 'GET', headers: { accept: 'application/json', authorization } } as const;
  const limits = { timeoutMs: UPSTREAM_TIMEOUT_MS, maxBytes: MESSAGE_ANSWER_BYTES_MAX };
  return callUpstream({ fetch, clock: systemClock }, request, limits);
}
