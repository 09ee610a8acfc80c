import { measureDelivery } from './measure.ts';
import type { CodeMail } from './provider.ts';
import { EMAIL_PROVIDERS, type EmailContext } from './providers.ts';

/** Sends one-time codes by mail. Throws 502 `email_send_failed`, whose cause contains no address, code or key. */
export interface EmailSender {
  /** Mail is switched off: `send` throws 503 `email_not_configured`. */
  readonly isOff: boolean;
  send(mail: CodeMail): Promise<void>;
}

/** The sender that `EMAIL_PROVIDER` names. Throws when a part that this provider needs was not handed in. */
export function createEmailSender(
  outside: EmailContext & { readonly config: { readonly emailProvider: string } },
): EmailSender {
  const provider = EMAIL_PROVIDERS.find(({ name }) => name === outside.config.emailProvider);
  if (!provider) throw new Error('EMAIL_PROVIDER names no provider');
  const send = provider.create(outside);
  const how = { channel: 'email', provider: provider.name, failure: 'email_send_failed' } as const;
  return { isOff: provider.name === 'none', send: (mail) => measureDelivery(outside, how, () => send(mail)) };
}
