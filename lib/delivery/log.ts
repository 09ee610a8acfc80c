/**
 * The providers that print codes instead of sending them: the one place that may, and the settings refuse it on
 * public hosts.
 */

import { VaultError } from '../base/error.ts';
import type { LogEntry } from '../base/log.ts';
import { measureDelivery } from './measure.ts';
import type { CheckResult, CodeMail, DeliveryContext, DeliveryProvider, NoSms, OwnSms } from './provider.ts';

/** Prints the codes of mails. */
export const emailLog = {
  name: 'log',
  needs: [],
  prints: true,
  remedy: '',
  create:
    ({ log }: DeliveryContext<unknown>) =>
    async (mail: CodeMail): Promise<void> =>
      log(entryOf('email', mail)),
} as const satisfies DeliveryProvider;

const HOW = { channel: 'sms', provider: 'log', failure: 'sms_send_failed' } as const;

/** Prints the codes of text messages. */
export const smsLog = {
  name: 'log',
  needs: [],
  prints: true,
  remedy: '',
  create: (outside: DeliveryContext<unknown>): OwnSms => ({
    kind: 'own',
    send: (message) => measureDelivery(outside, HOW, async () => outside.log(entryOf('sms', message))),
  }),
} as const satisfies DeliveryProvider;

function entryOf(
  channel: 'email' | 'sms',
  { to, code, pass, purpose, notice, recovery, challenge, passkey }: CodeMail,
): LogEntry {
  if (challenge !== undefined) {
    const { status, link } = challenge;
    return { level: 'info', event: 'notice', channel, to, notice: `challenge_${status}`, link };
  }
  if (passkey !== undefined)
    return { level: 'info', event: 'notice', channel, to, notice: 'passkey_new', by: passkey.by };
  if (recovery !== undefined)
    return {
      level: 'info',
      event: 'notice',
      channel,
      to,
      notice: `recovery_${recovery.kind}`,
      status: recovery.status,
    };
  if (notice !== undefined) return { level: 'info', event: 'notice', channel, to, notice };
  const carried = { ...(code === undefined ? {} : { code }), ...(pass === undefined ? {} : { pass }) };
  const other = purpose === undefined || purpose === 'registration' ? {} : { purpose };
  return { level: 'info', event: 'code', channel, to, ...other, ...carried };
}

/** Sends no mail: for a vault that proves phone numbers, or no identifiers at all. */
export const noEmail = {
  name: 'none',
  needs: [],
  remedy: '',
  create: (_: DeliveryContext<unknown>) => () => Promise.reject(new VaultError('email_not_configured')),
  check: async (): Promise<readonly CheckResult[]> => [{ state: 'ok', text: 'off: no mail is sent' }],
} as const satisfies DeliveryProvider;

/** Sends no text messages: for a vault that proves addresses of mail only. */
export const noSms = {
  name: 'none',
  needs: [],
  remedy: '',
  create: (_: DeliveryContext<unknown>): NoSms => ({ kind: 'none' }),
  check: async (): Promise<readonly CheckResult[]> => [{ state: 'ok', text: 'off: no SMS are sent' }],
} as const satisfies DeliveryProvider;
