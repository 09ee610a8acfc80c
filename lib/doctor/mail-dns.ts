import type { Config } from '../config/config.ts';
import { domainOfSender } from '../config/parsers.ts';
import { isLoopbackHost } from '../config/url-parsers.ts';
import { checkDkim } from './dkim.ts';
import { checkDmarc } from './dmarc.ts';
import { type CheckName, type DoctorCheck, type Finding, fail, skip } from './finding.ts';
import { type Examined, type Sight, UNSEEN } from './host.ts';
import { checkSpf } from './spf.ts';

/** Checks of the DNS records that receivers read for the domain of `EMAIL_FROM`: SPF, DKIM and DMARC. */
export function mailDnsChecks({ config, host }: Examined): readonly DoctorCheck[] {
  const { emailProvider, emailFrom } = config;
  const domain = domainOfSender(emailFrom ?? '');
  if (!SENT.includes(emailProvider) || domain === undefined) return [];
  const check = (name: CheckName, look: (sight: Sight) => Promise<Finding>): DoctorCheck => ({
    name,
    remedy: '',
    run: async () => [host ? await look(host).catch((error) => skip(name, silent(error))) : skip(name, UNSEEN)],
  });
  if (RESERVED.test(domain))
    return [check('spf', async () => skip('spf', `${domain} is a name for examples: nothing is asked about it`))];
  // Others send from addresses of their own, and sign with keys of their own.
  const isOwn = emailProvider === 'smtp';
  return [
    ...(isOwn ? [check('spf', (sight) => checkSpf(sight, domain, mailHostOf(config)))] : []),
    ...(isOwn ? [check('dkim', (sight) => lookForKey(sight, domain, config))] : []),
    check('dmarc', (sight) => checkDmarc(sight, domain)),
  ];
}

const SENT = ['smtp', 'resend', 'hook'];

/** Names without any receiver (RFC 2606, RFC 6761, RFC 6762). */
const RESERVED = /(?:^|\.)(?:test|example|invalid|localhost|local|internal|example\.(?:com|net|org))$/;

/** The host that SPF would list; the server on this machine has no name there. */
function mailHostOf({ smtpUrl = '' }: Config): string {
  const host = URL.canParse(smtpUrl) ? new URL(smtpUrl).hostname : '';
  return isLoopbackHost(host) ? '' : host;
}

async function lookForKey(sight: Sight, domain: string, config: Config): Promise<Finding> {
  const { dkimSelector: selector, dkimPrivateKey } = config;
  if (dkimPrivateKey === undefined)
    return skip('dkim', 'the vault signs no mails (DKIM_PRIVATE_KEY); the server of SMTP_URL may');
  const publicKey = sight.publicKeyOf(dkimPrivateKey);
  if (publicKey === undefined)
    return fail('dkim', 'DKIM_PRIVATE_KEY cannot be read', 'set it to an RSA key in PEM of at least 2048 bits');
  return checkDkim(sight, { domain, selector, publicKey });
}

function silent(error: unknown): string {
  return `DNS does not answer: ${error instanceof Error && 'code' in error ? error.code : 'no reason given'}`;
}
