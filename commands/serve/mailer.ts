import type { Config } from '../../lib/config/config.ts';
import { domainOfSender } from '../../lib/config/parsers.ts';
import { UsageError } from '../cli/arguments.ts';
import type { SmtpMailer } from '../mail/smtp.ts';

/**
 * The mailer of the settings, undefined unless mail goes out by SMTP: it is half of the program's start. Throws
 * `UsageError`.
 */
export async function openMailer(config: Config): Promise<SmtpMailer | undefined> {
  const { emailProvider, emailFrom = '', smtpUrl, dkimSelector: selector, dkimPrivateKey: privateKey } = config;
  if (emailProvider !== 'smtp' || smtpUrl === undefined) return undefined;
  const domain = domainOfSender(emailFrom);
  const dkim = domain && privateKey ? { domain, selector, privateKey } : undefined;
  const { smtpMailer } = await import('../mail/smtp.ts');
  try {
    return smtpMailer(smtpUrl, {}, dkim);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'SMTP_URL cannot be used');
  }
}
