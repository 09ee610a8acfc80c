/**
 * Mail over SMTP (RFC 5321): STARTTLS (RFC 3207) before anything is said, or TLS from the start (RFC 8314), and a
 * checked certificate.
 */

import { createPrivateKey } from 'node:crypto';
import { createTransport, type NodemailerError } from 'nodemailer';
import { MACHINE_HEADERS, type Mail } from '../../lib/delivery/mail.ts';
import { MAIL_SEND_TIMEOUT_MS, type Mailer } from '../../lib/delivery/smtp.ts';
import { parseSmtpUrl } from './smtp-url.ts';

/** Bounds of one mailer: a step with the server, its connections, retries, waiting mails and replies. */
export const SMTP_STEP_TIMEOUT_MS = 10_000;
const SMTP_CONNECTIONS_MAX = 5;
export const SMTP_RETRIES_MAX = 2;
const SMTP_QUEUE_MAX = 1_000;
const SMTP_REPLY_BYTES_MAX = 64 * 1024;

/** A mailer. `verify` connects, encrypts and authenticates without a mail. Its errors are safe to log. */
export interface SmtpMailer extends Mailer {
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** Limits of a mailer: each wait for the server, a whole send with its wait for a connection, and parallel sends. */
export interface SmtpLimits {
  readonly stepTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly connectionsMax: number;
  readonly queueMax: number;
}

const LIMITS: SmtpLimits = {
  stepTimeoutMs: SMTP_STEP_TIMEOUT_MS,
  sendTimeoutMs: MAIL_SEND_TIMEOUT_MS,
  connectionsMax: SMTP_CONNECTIONS_MAX,
  queueMax: SMTP_QUEUE_MAX,
};

/** The parameters of a mail's signature (RFC 6376): the key is RSA in PEM. */
export interface Dkim {
  readonly domain: string;
  readonly selector: string;
  readonly privateKey: string;
}

/** Receivers must take 1,024 bits, and signers should use 2,048 (RFC 8301 section 3.2). */
const DKIM_KEY_BITS_MIN = 2_048;

/**
 * A mailer for `SMTP_URL` over a bounded pool of connections. Throws an `Error` that names a URL's fault, not the URL.
 */
export function smtpMailer(url: string, limits: Partial<SmtpLimits> = {}, dkim?: Dkim): SmtpMailer {
  const signature = dkim === undefined ? {} : { dkim: signedBy(dkim) };
  const { sendTimeoutMs, queueMax, ...bounds } = { ...LIMITS, ...limits };
  const transport = createTransport({ ...parseSmtpUrl(url), ...fixed(bounds) });
  let waiting = 0;
  return {
    async send(mail) {
      if (waiting >= queueMax) throw unsent(new Error('SMTP: too many mails are waiting'));
      const message = compose(mail);
      waiting++;
      try {
        await transport.sendMail({ ...message, ...signature, signal: AbortSignal.timeout(sendTimeoutMs) });
      } catch (error) {
        throw describe(error);
      } finally {
        waiting--;
      }
    },
    async verify() {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject({ code: 'EABORT' }), sendTimeoutMs);
      try {
        await Promise.race([transport.verify(), late.promise]);
      } catch (error) {
        throw describe(error);
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      transport.close({ force: true });
    },
  };
}

/** Throws an `Error` for a key that cannot sign: nodemailer would send the mail without a signature. */
function signedBy({ domain, selector, privateKey }: Dkim) {
  const key = openKey(privateKey);
  const bits = key?.asymmetricKeyType === 'rsa' ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0;
  if (bits < DKIM_KEY_BITS_MIN)
    throw new Error(`DKIM_PRIVATE_KEY must be an RSA key of at least ${DKIM_KEY_BITS_MIN} bits`);
  return { domainName: domain, keySelector: selector, privateKey };
}

function openKey(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function fixed({ stepTimeoutMs, connectionsMax }: Pick<SmtpLimits, 'stepTimeoutMs' | 'connectionsMax'>) {
  return {
    pool: true,
    maxConnections: connectionsMax,
    maxRequeues: SMTP_RETRIES_MAX,
    maxResponseSize: SMTP_REPLY_BYTES_MAX,
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    // The timeout of the greeting says more, so it comes first.
    socketTimeout: stepTimeoutMs + 50,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as const;
}

/** The message with its headers. Refuses anything that could be read as another header or address. */
function compose({ from, to, replyTo, subject, text, html, messageId }: Mail) {
  // Taken apart here because a name may hold the commas and brackets that nodemailer would split a list at.
  const [, , name = '', address = from] = /^("?)([^<>]*?)\1\s*<([^<>]*)>$/.exec(from) ?? [];
  if (/[\0-\x1f\x7f]/.test(name + subject)) throw new Error('SMTP: a control character in a header');
  if (!ADDRESS.test(address)) throw new Error('SMTP: malformed sender');
  if (!ADDRESS.test(to)) throw new Error('SMTP: malformed recipient');
  if (replyTo !== undefined && !ADDRESS.test(replyTo)) throw new Error('SMTP: malformed address of support');
  const headers = MACHINE_HEADERS;
  const id = messageId === undefined ? {} : { messageId };
  const replies = replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } };
  return { from: { name, address }, to: { name: '', address: to }, ...replies, subject, text, html, headers, ...id };
}

/**
 * Both sides without white space, control characters and the specials that would need quoting (RFC 5322 section 3.2.3).
 */
const ADDRESS = /^[^\s@<>()[\]\\,;:"\0-\x1f\x7f]+@[^\s@<>()[\]\\,;:"\0-\x1f\x7f]+$/;

/**
 * The failure in nodemailer's and the server's fixed words. Its message is dropped: servers quote addresses in their
 * replies.
 */
function describe(error: unknown): Error {
  const failure = (error ?? {}) as NodemailerError;
  const { code, originalCode, timeoutType, command, response } = failure;
  const status = /^(\d{3})(?:[ -](\d\.\d{1,3}\.\d{1,3})(?=\s|$))?/.exec(String(response ?? ''))?.slice(1) ?? [];
  const words = [code, originalCode, timeoutType, command, ...status].filter((word) =>
    /^[A-Z0-9_. -]{1,50}$/.test(word ?? ''),
  );
  const sentence = `SMTP: ${SENTENCES[code ?? ''] ?? 'the mail was not sent'}`;
  const shown = new Error(words.length === 0 ? sentence : `${sentence} (${words.join(', ')})`);
  return isUnsent(failure, status[0]) ? unsent(shown) : shown;
}

/**
 * Whether no server has the mail, for a reason other than its recipient: no connection, no encryption, no login, or a
 * refusal in words. A connection that broke or fell silent later may have carried it.
 */
function isUnsent({ code, originalCode, timeoutType, command }: NodemailerError, status: string | undefined): boolean {
  if (command === 'RCPT TO') return false;
  if (status !== undefined && Number(status) >= 400) return true;
  if (code === 'ETIMEDOUT') return timeoutType === 'CONNECT_TIMEOUT' || timeoutType === 'GREETING_TIMEOUT';
  return ['EDNS', 'ETLS', 'EAUTH'].includes(code ?? '') || NOT_CONNECTED.includes(originalCode ?? '');
}

const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Says with the error that the send reached nobody (`Mailer`). */
function unsent(error: Error): Error {
  return Object.assign(error, { reachedNobody: true });
}

const SENTENCES: Readonly<Record<string, string>> = {
  EABORT: 'the server did not finish in time',
  EAUTH: 'the server refused the credentials',
  ECONNECTION: 'the server closed the connection',
  EDNS: 'the server was not found',
  EENVELOPE: 'the server refused the sender or the recipient',
  ESOCKET: 'the connection failed',
  ETIMEDOUT: 'the server did not answer in time',
  ETLS: 'the connection could not be encrypted',
};
