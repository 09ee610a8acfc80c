/** The mail server in `SMTP_URL`, by default encrypted first (RFC 8314) and with a checked certificate. */
import { isLoopback, parseIp } from '../../lib/base/ip.ts';

/** Where to connect and how safely, in nodemailer's words. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly secure: boolean;
  /** Without STARTTLS nothing is sent, neither credentials nor mail. */
  readonly requireTLS: boolean;
  readonly tls: { readonly rejectUnauthorized: boolean; readonly minVersion: 'TLSv1.2' };
  readonly auth?: { readonly user: string; readonly pass: string };
}

/**
 * Reads `smtp://[user:password@]host[:587]` or `smtps://…[:465]`. An `smtp:` server must offer STARTTLS unless it is on
 * loopback; `?tls=required` and `?tls=optional` say otherwise. `?verify=off` accepts any certificate, on loopback only.
 * Throws an `Error` that names the fault and never quotes the URL.
 */
export function parseSmtpUrl(text: string): SmtpServer {
  // nodemailer would take every option, those that switch checks off included, out of the query.
  if (!URL.canParse(text)) throw fault('is not a URL (percent-encode special characters in the password)');
  const url = new URL(text);
  if (url.protocol !== 'smtp:' && url.protocol !== 'smtps:') throw fault('must start with smtp:// or smtps://');
  if (url.hostname === '' || !['', '/'].includes(url.pathname) || url.hash !== '') {
    throw fault('must name a host and nothing after it but parameters');
  }
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const local = onLoopback(host);
  const { tls, verify = 'on' } = parameters(url);
  if (secure && tls !== undefined) throw fault('must not say tls after smtps://, which always encrypts');
  if (verify === 'off' && !local) throw fault('may say verify=off only for a server on loopback');
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTLS: !secure && (tls ?? (local ? 'optional' : 'required')) === 'required',
    tls: { rejectUnauthorized: verify === 'on', minVersion: 'TLSv1.2' },
    ...credentials(url),
  };
}

function parameters(url: URL): { tls?: string; verify?: string } {
  const given = [...url.searchParams];
  const known = ['tls=required', 'tls=optional', 'verify=on', 'verify=off'];
  // An ignored misspelling would be an open door, or a mail server that nobody reaches.
  if (!given.every(([name, value]) => known.includes(`${name}=${value}`))) {
    throw fault(`has a parameter other than ${known.join(', ')}`);
  }
  if (new Set(given.map(([name]) => name)).size !== given.length) throw fault('has a parameter twice');
  return Object.fromEntries(given);
}

function credentials(url: URL): Pick<SmtpServer, 'auth'> {
  if (url.username === '' && url.password === '') return {};
  if (url.username === '' || url.password === '') throw fault('needs both a user and a password, or neither');
  try {
    return { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } };
  } catch {
    throw fault('has a malformed percent-encoding in its user or password');
  }
}

function onLoopback(host: string): boolean {
  const ip = parseIp(host);
  return ip ? isLoopback(ip) : host === 'localhost';
}

function fault(what: string): Error {
  return new Error(`SMTP_URL ${what}`);
}
