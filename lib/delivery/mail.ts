import { type CodeMessage, createComposer } from './message.ts';
import type { CodeMail, DeliveryContext, MailBrand } from './provider.ts';

/** A mail as plain data; `from` is an RFC 5322 mailbox, `to` and `replyTo` are bare addresses. */
export interface Mail extends CodeMessage {
  readonly from: string;
  readonly to: string;
  /** Where replies go, if not to the sender. */
  readonly replyTo?: string;
  /** The same in a mail that is sent again (RFC 5322 section 3.6.4); else the mailer makes one. */
  readonly messageId?: string;
}

/** The settings of every mail. */
export interface MailSettings {
  readonly emailFrom?: string | undefined;
  readonly baseUrl: string;
}

/** What makes the mails of a provider, by brand and language. Throws without `EMAIL_FROM`. */
export function mailOf(
  provider: string,
  { config, brandOf, wordsOf }: Pick<DeliveryContext<MailSettings>, 'config' | 'brandOf' | 'wordsOf'>,
): (message: CodeMail) => Promise<Mail> {
  const { emailFrom, baseUrl } = config;
  if (emailFrom === undefined) throw new Error(`EMAIL_PROVIDER=${provider} needs EMAIL_FROM`);
  const { host, hostname } = new URL(baseUrl);
  const composers = new Map<MailBrand, Map<string, ReturnType<typeof createComposer>>>();
  const composerOf = async (brand: MailBrand, language: string) => {
    const known = composers.get(brand) ?? new Map<string, ReturnType<typeof createComposer>>();
    composers.set(brand, known);
    const compose = known.get(language) ?? createComposer({ brand, host, language, ...(await wordsOf(language)) });
    known.set(language, compose);
    return compose;
  };
  return async (message) => {
    const { to, app, language, messageId } = message;
    const brand = brandOf(app);
    const compose = await composerOf(brand, language);
    const { subject, text, html } = compose(message);
    const mail = { from: senderOf(emailFrom, brand), to, subject, text, html };
    const replyTo = brand.support === undefined ? {} : { replyTo: brand.support };
    return { ...mail, ...replyTo, ...(messageId === undefined ? {} : { messageId: `<${messageId}@${hostname}>` }) };
  };
}

/** `EMAIL_FROM`; an app's own brand is the name before its address. */
function senderOf(from: string, { name, isOwn }: MailBrand): string {
  return isOwn ? `"${name}" <${/<([^<>]*)>$/.exec(from)?.[1] ?? from}>` : from;
}
