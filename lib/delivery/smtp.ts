/** Mail over SMTP, by the host's mailer, as it takes sockets. */
import type { Clock } from '../base/clock.ts';
import { type Mail, type MailSettings, mailOf } from './mail.ts';
import { reachedNobody } from './measure.ts';
import type { CheckContext, CheckResult, CodeMail, DeliveryContext, DeliveryProvider } from './provider.ts';

/** How long a mailer may take for one mail. */
export const MAIL_SEND_TIMEOUT_MS = 20_000;

/**
 * Sends mail for the vault where that takes sockets. `send` resolves once a server has taken the mail over and
 * rejects when none has; the error's message is logged, so it should name neither address nor code. An error with
 * `reachedNobody: true` says that no server has the mail, for a reason that does not lie with its recipient: the send
 * then costs the caller nothing.
 */
export interface Mailer {
  send(mail: Mail): Promise<void>;
  close?(): Promise<void>;
}

/** The setting of SMTP, which only its check reads: the host makes the mailer. */
export interface SmtpSettings {
  readonly smtpUrl?: string | undefined;
}

/** Mail by SMTP. */
export const smtp = {
  name: 'smtp',
  needs: ['SMTP_URL', 'EMAIL_FROM'],
  takes: ['DKIM_PRIVATE_KEY', 'DKIM_SELECTOR'],
  remedy: 'check SMTP_URL: host, port, user and password',
  create(outside: DeliveryContext<MailSettings> & { readonly mail?: Mailer | undefined }) {
    const { mail: mailer, clock } = outside;
    const compose = mailOf('smtp', outside);
    if (!mailer) throw new Error('EMAIL_PROVIDER=smtp needs a mailer in env.mail');
    return async (message: CodeMail) => sendInTime(clock, mailer, await compose(message), message);
  },
  async check({ config, connect }: CheckContext<SmtpSettings>): Promise<readonly CheckResult[]> {
    if (!connect) return [{ state: 'skip', text: 'the host of this vault cannot check it' }];
    const mailer = await connect(config.smtpUrl ?? '');
    try {
      await mailer.verify();
      return [{ state: 'ok', text: 'the server accepts the connection and the credentials; nothing was sent' }];
    } finally {
      await mailer.close();
    }
  },
} as const satisfies DeliveryProvider;

async function sendInTime(clock: Clock, mailer: Mailer, mail: Mail, { code, pass }: CodeMail): Promise<void> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(MAIL_SEND_TIMEOUT_MS, () => reject(new Error('the mailer did not answer in time')));
  });
  try {
    await Promise.race([mailer.send(mail), late]);
  } catch (error) {
    // An embedder's mailer may quote its input, so the original error is dropped with its stack and its causes.
    const secrets = [mail.to, code, pass, pass?.split('#')[1]].filter((text) => text !== undefined);
    const shown = new Error(hide(error instanceof Error ? error.message : 'the mailer failed', secrets));
    throw Object.assign(shown, { reachedNobody: reachedNobody(error) });
  } finally {
    cancel();
  }
}

function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '…'), text);
}
