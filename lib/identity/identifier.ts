import { badRequest } from '../base/error.ts';

/** The channels of identifiers; a phone number's is `sms`. */
export const CHANNELS = ['sms', 'email', 'handle'] as const;

/** A member of `CHANNELS`. */
export type Channel = (typeof CHANNELS)[number];

/** The channels that take one-time codes. */
export type ProvableChannel = Exclude<Channel, 'handle'>;

/** An identifier in normal form; `key` (`channel:value`) identifies it in every table. */
export interface Identifier {
  readonly channel: Channel;
  readonly value: string;
  readonly key: string;
}

/** The identifier in its normal form (completions section 2). Throws 400 `Invalid identifier`. */
export function parseIdentifier(channel: Channel, text: string): Identifier {
  const value = NORMAL_FORM[channel](text);
  if (value === undefined) throw badRequest('Invalid identifier');
  return { channel, value, key: `${channel}:${value}` };
}

/**
 * The channel an identifier's form suggests: `@` is an email address, `+` or a restored space before digits a phone,
 * all else a handle.
 */
export function inferChannel(text: string): Channel {
  if (text.includes('@')) return 'email';
  return /^\s*\+|^ \d/.test(text) ? 'sms' : 'handle';
}

/** The normal form of an identifier of the channel its form suggests, or undefined. */
export function normalIdentifier(text: string): string | undefined {
  return NORMAL_FORM[inferChannel(text)](text);
}

/** A handle in normal form, or undefined: 1–64 of `a-z 0-9 . _ -`, starting and ending with a letter or digit. */
export function normalHandle(text: string): string | undefined {
  const handle = text.trim();
  // Checked before lower-casing, which turns the Kelvin sign into an ASCII letter.
  return /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/.test(handle) ? handle.toLowerCase() : undefined;
}

/**
 * The masked identifier for events and logs: its first character and an address's domain; of a phone number the first
 * and the last two digits.
 */
export function maskIdentifier({ channel, value }: Pick<Identifier, 'channel' | 'value'>): string {
  if (channel === 'email') return `${value.slice(0, 1)}***${value.slice(value.lastIndexOf('@'))}`;
  if (channel === 'sms') return `${value.slice(0, 3)}***${value.slice(-2)}`;
  return `${value.slice(0, 1)}***`;
}

const NORMAL_FORM: Record<Channel, (text: string) => string | undefined> = {
  email: normalEmail,
  sms: normalPhone,
  handle: normalHandle,
};

/** WHATWG HTML "valid e-mail address", the domain in its ASCII form, all lower-cased (one mailbox, one identity). */
function normalEmail(text: string): string | undefined {
  const [local = '', domain = '', ...rest] = text.trim().normalize('NFC').split('@');
  if (rest.length > 0 || !/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+$/.test(local)) return undefined;
  const ascii = asciiDomain(domain);
  const email = `${local}@${ascii}`.toLowerCase();
  return ascii !== undefined && email.length <= 254 ? email : undefined;
}

/** The domain's labels in ASCII (UTS 46 by way of the URL parser), or undefined. */
function asciiDomain(domain: string): string | undefined {
  // The URL parser would take these as the end of the host, or as an escape.
  if (domain === '' || /[\s/\\?#:@%[\]]/.test(domain) || !URL.canParse(`http://${domain}/`)) return undefined;
  const host = new URL(`http://${domain}/`).hostname;
  // A host of digits comes back as an IPv4 address that the text did not say.
  const rewritten = /^[\d.]+$/.test(host) && host !== domain;
  const labels = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
  return !rewritten && labels.test(host) ? host : undefined;
}

/**
 * E.164: `+` and 7–15 digits, the first not 0; spaces, dashes, dots and brackets are dropped. A query string's `+`
 * arrives as a space.
 */
function normalPhone(text: string): string | undefined {
  const restored = /^ \d/.test(text) ? `+${text.slice(1)}` : text.trim();
  const phone = restored.replace(/[ \-.()]/g, '');
  return /^\+[1-9]\d{6,14}$/.test(phone) ? phone : undefined;
}
