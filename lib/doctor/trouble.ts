import { VaultError } from '../base/error.ts';

/** A failure in words, and its remedy. */
export interface Trouble {
  readonly text: string;
  readonly remedy: string;
}

/** How deep a cause is looked for. */
const CAUSES_MAX = 5;

/** A failure with the remedy of its cause; `remedy` is that of any other cause. */
export function troubleOf(error: unknown, remedy: string): Trouble {
  const reason = reasonOf(error);
  for (const text of [reason, ...causesOf(error)]) {
    const known = KNOWN.find(({ code }) => code.test(text));
    if (known) return { text: `${known.is} (${known.code.exec(text)?.[0]})`, remedy: known.remedy };
  }
  return { text: reason, remedy: REMEDIES.find(([words]) => words.test(reason))?.[1] ?? remedy };
}

/** A failure as text. For an upstream it is the cause, which contains neither URL nor key. */
function reasonOf(error: unknown): string {
  const told = error instanceof VaultError && error.cause instanceof Error ? error.cause : error;
  return told instanceof Error ? told.message : String(told);
}

function causesOf(error: unknown): string[] {
  const texts: string[] = [];
  let one = error;
  for (let i = 0; i < CAUSES_MAX && one instanceof Error; i++, one = one.cause) texts.push(one.message);
  return texts;
}

/** The words of OpenSSL, BoringSSL and the runtimes for a certificate that is refused, and the meaning of each. */
const KNOWN = [
  {
    code: /DEPTH_ZERO_SELF_SIGNED_CERT/,
    is: 'its certificate signed itself',
    remedy:
      'give it one of an authority, or let the vault trust this one: NODE_EXTRA_CA_CERTS (docs/operating.md, A private authority)',
  },
  {
    code: /UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|SELF_SIGNED_CERT_IN_CHAIN|CERT_UNTRUSTED/,
    is: 'its certificate is of an authority that this machine does not know',
    remedy:
      'of an authority of your own: set NODE_EXTRA_CA_CERTS (docs/operating.md, A private authority); of a public one: let the server send its intermediate certificate too',
  },
  {
    code: /CERT_HAS_EXPIRED/,
    is: 'its certificate has expired',
    remedy: "renew the server's certificate and reload the server; if it is new, see the check of the clock",
  },
  {
    code: /CERT_NOT_YET_VALID/,
    is: 'its certificate is not valid yet',
    remedy: "see the check of the clock, or wait until the certificate's first day",
  },
  {
    code: /ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH/,
    is: 'its certificate is of another host name',
    remedy: 'set the URL to a name that the certificate has, or give the server a certificate with this name',
  },
  {
    code: /CERT_REVOKED/,
    is: 'its certificate is revoked',
    remedy: 'give the server another certificate',
  },
  {
    code: /ERR_SSL_WRONG_VERSION_NUMBER|EPROTO/,
    is: 'it speaks no TLS on this port',
    remedy:
      'check scheme and port of the URL: of mail, smtps:// is for port 465 and smtp:// for 587; else http:// or https://',
  },
] as const;

/** Remedies by the words of mail servers and of providers; the first that matches. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^SMTP: .*RCPT TO/, 'the server refuses this recipient: try another address, or let the server relay for the vault'],
  [
    /^SMTP: .*(?:EENVELOPE|MAIL FROM)/,
    'let the server send for the address of EMAIL_FROM, or set EMAIL_FROM to one that it sends for',
  ],
  [/^SMTP: .*EAUTH/, 'set user and password in SMTP_URL, special characters percent-encoded'],
  [/^SMTP: .*(?:EDNS|ENOTFOUND|EAI_AGAIN)/, 'check the host in SMTP_URL, and the DNS of this machine'],
  [/^SMTP: .*ECONNREFUSED/, 'nothing listens there: check host and port in SMTP_URL, and that the server runs'],
  [/^SMTP: .*(?:ETIMEDOUT|EABORT)/, 'a firewall may be between: many networks block port 25, some 465 and 587 too'],
  [/^SMTP: .*ETLS/, 'the server offers no STARTTLS: use smtps:// with its port for TLS'],
  [
    /^refused \((?:401|403)/,
    'the provider refuses: check its key, and in its dashboard that it may send for EMAIL_FROM',
  ],
  [/^refused \(4/, 'the provider refuses: its dashboard says why'],
];
