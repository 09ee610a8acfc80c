import type { Clock } from '../base/clock.ts';
import type { Fetch } from '../base/http-client.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Config } from '../config/config.ts';
import { attempt } from './measure.ts';
import { createTwilio, type VerifySms } from './twilio.ts';

export type { ProviderVerdict, VerifySms } from './twilio.ts';

/** The vault keeps the code and the provider only carries it. Throws 502 `sms_send_failed`. */
export interface OwnSms {
  readonly kind: 'own';
  send(message: { readonly to: string; readonly code: string; readonly lifetimeSeconds: number }): Promise<void>;
}

/** Who keeps the code decides how a check is done, so the two kinds are matched exhaustively. */
export type SmsProvider = OwnSms | VerifySms;

interface Outside {
  readonly config: Pick<
    Config,
    'smsProvider' | 'twilioAccountSid' | 'twilioAuthToken' | 'twilioVerifyServiceSid' | 'twilioApiUrl'
  >;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The provider that `SMS_PROVIDER` names. Throws when a setting it needs is missing. */
export function createSmsProvider(outside: Outside): SmsProvider {
  const { config } = outside;
  if (config.smsProvider === 'log') return printer(outside);
  if (config.smsProvider === 'none') return refuser(outside);
  const { twilioAccountSid: accountSid, twilioAuthToken: authToken, twilioVerifyServiceSid: serviceSid } = config;
  if (accountSid === undefined || authToken === undefined || serviceSid === undefined) {
    throw new Error('SMS_PROVIDER=twilio needs TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_VERIFY_SERVICE_SID');
  }
  return createTwilio(outside, { apiUrl: config.twilioApiUrl, accountSid, authToken, serviceSid });
}

/** Prints the code instead of sending it: the settings refuse it on public hosts. */
function printer(outside: Outside): OwnSms {
  const how = { channel: 'sms', provider: 'log', failure: 'sms_send_failed' } as const;
  return {
    kind: 'own',
    send: ({ to, code }) =>
      attempt(outside, how, async () => outside.log({ level: 'info', event: 'code', channel: 'sms', to, code })),
  };
}

/** Sends nothing: for a vault that proves addresses of mail only. */
function refuser(outside: Outside): OwnSms {
  const how = { channel: 'sms', provider: 'none', failure: 'sms_send_failed' } as const;
  return {
    kind: 'own',
    send: () => attempt(outside, how, () => Promise.reject(new Error('SMS_PROVIDER is none'))),
  };
}
