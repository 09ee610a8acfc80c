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

/** A machine wrote it: vacation notices and other robots do not answer (RFC 3834, and Exchange's own header). */
export const MACHINE_HEADERS = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' } as const;

/** The settings of every mail. */
export interface MailSettings {
  readonly emailFrom?: string | undefined;
  readonly baseUrl: string;
  readonly credentialTtlSeconds: number;
}

/** The parts that mails are made of: settings, brands and words. */
export type Stationery = Pick<DeliveryContext<MailSettings>, 'config' | 'brandOf' | 'wordsOf'>;

/** Returns the function that makes a provider's mails, by brand and language. Throws without `EMAIL_FROM`. */
export function mailOf(provider: string, stationery: Stationery): (message: CodeMail) => Promise<Mail> {
  const { emailFrom, baseUrl } = stationery.config;
  if (emailFrom === undefined) throw new Error(`EMAIL_PROVIDER=${provider} needs EMAIL_FROM`);
  const { hostname } = new URL(baseUrl);
  const contentOf = createContents(stationery);
  return async (message) => {
    const { to, app, messageId } = message;
    const brand = stationery.brandOf(app);
    const { subject, text, html } = await contentOf(message);
    const mail = { from: senderOf(emailFrom, brand), to, subject, text, html };
    const replyTo = brand.support === undefined ? {} : { replyTo: brand.support };
    return { ...mail, ...replyTo, ...(messageId === undefined ? {} : { messageId: `<${messageId}@${hostname}>` }) };
  };
}

/** Returns the function that writes the content of mails, by brand and language. */
export function createContents({ config, brandOf, wordsOf }: Stationery): (message: CodeMail) => Promise<CodeMessage> {
  const constant = { host: new URL(config.baseUrl).host, credentialSeconds: config.credentialTtlSeconds };
  const composers = new Map<MailBrand, Map<string, ReturnType<typeof createComposer>>>();
  const composerOf = async (brand: MailBrand, language: string) => {
    const known = composers.get(brand) ?? new Map<string, ReturnType<typeof createComposer>>();
    composers.set(brand, known);
    const compose =
      known.get(language) ?? createComposer({ ...constant, brand, language, ...(await wordsOf(language)) });
    known.set(language, compose);
    return compose;
  };
  return async (message) => (await composerOf(brandOf(message.app), message.language))(message);
}

/** `EMAIL_FROM`; the brand is the name of an address without one, an app's own brand the name of any. */
export function senderOf(from: string, { name, isOwn }: MailBrand): string {
  const address = /<([^<>]*)>$/.exec(from)?.[1];
  return isOwn || address === undefined ? `"${name}" <${address ?? from}>` : from;
}
