import type { Clock } from '../base/clock.ts';
import { type Fetch, measureUpstream } from '../base/http-client.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import { type Random, randomId } from '../base/random.ts';
import type { Config } from '../config/config.ts';
import { attempt } from './measure.ts';
import { codeMessage, type Mail } from './message.ts';
import { sendWithResend } from './resend.ts';

export type { Mail } from './message.ts';

/** How long a mailer may take for one mail. */
export const MAIL_SEND_TIMEOUT_MS = 20_000;

/**
 * Sends mail for the vault where that takes sockets. `send` resolves once a server has taken the mail over and rejects when none has;
 * the error's message is logged, so it should name neither address nor code.
 */
export interface Mailer {
  send(mail: Mail): Promise<void>;
  close?(): Promise<void>;
}

/** Sends one-time codes by mail. Throws 502 `email_send_failed`, whose cause holds no address, code or key. */
export interface EmailSender {
  send(mail: { readonly to: string; readonly code: string; readonly lifetimeSeconds: number }): Promise<void>;
}

type EmailConfig = Pick<Config, 'emailProvider' | 'emailFrom' | 'resendApiKey' | 'resendApiUrl' | 'baseUrl'>;

interface Outside {
  readonly config: EmailConfig;
  readonly mail?: Mailer | undefined;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The sender that `EMAIL_PROVIDER` names. Throws when what that provider needs was not handed in. */
export function createEmailSender(outside: Outside): EmailSender {
  const { config } = outside;
  const provider = config.emailProvider;
  const service = new URL(config.baseUrl).host;
  if (provider === 'log') {
    return { send: ({ to, code }) => attempt(outside, how(provider), () => print(outside, to, code)) };
  }
  const from = config.emailFrom;
  if (from === undefined) throw new Error(`EMAIL_PROVIDER=${provider} needs EMAIL_FROM`);
  const send = provider === 'smtp' ? byMailer(outside) : byResend(outside);
  return {
    send: ({ to, code, lifetimeSeconds }) => {
      const mail = { from, to, ...codeMessage({ code, service, lifetimeSeconds }) };
      return attempt(outside, how(provider), () => send(mail, code));
    },
  };
}

function how(provider: EmailConfig['emailProvider']) {
  return { channel: 'email', provider, failure: 'email_send_failed' } as const;
}

/** The one place, with its twin for SMS, that may print a code: the settings refuse it on public hosts. */
async function print({ log }: Outside, to: string, code: string): Promise<void> {
  log({ level: 'info', event: 'code', channel: 'email', to, code });
}

function byResend(outside: Outside): (mail: Mail) => Promise<void> {
  const { resendApiKey: apiKey, resendApiUrl: apiUrl } = outside.config;
  if (apiKey === undefined) throw new Error('EMAIL_PROVIDER=resend needs RESEND_API_KEY');
  return (mail) =>
    measureUpstream(outside, 'resend', () =>
      sendWithResend(outside, { apiUrl, apiKey }, mail, randomId(outside.random)),
    );
}

function byMailer({ mail: mailer, clock }: Outside): (mail: Mail, code: string) => Promise<void> {
  if (!mailer) throw new Error('EMAIL_PROVIDER=smtp needs a mailer in env.mail');
  return async (mail, code) => {
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(MAIL_SEND_TIMEOUT_MS, () => reject(new Error('the mailer did not answer in time')));
    });
    try {
      await Promise.race([mailer.send(mail), late]);
    } catch (error) {
      // An embedder's mailer may quote what it was given; the original error, its stack and its causes are dropped with that.
      throw new Error(hide(error instanceof Error ? error.message : 'the mailer failed', [mail.to, code]));
    } finally {
      cancel();
    }
  };
}

function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '…'), text);
}
