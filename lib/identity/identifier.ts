import { badRequest } from '../base/error.ts';
import { normalPhone } from './phone.ts';

/** The channels of identifiers; a phone number's is `sms`. */
export const CHANNELS = ['sms', 'email', 'handle'] as const;

/** A member of `CHANNELS`. */
export type Channel = (typeof CHANNELS)[number];

/** The channels that take one-time codes. */
export type ProvableChannel = Exclude<Channel, 'handle'>;

/** An identifier in normal form; `key` (`channel:value`) identifies it in every table. */
export interface Identifier<Of extends Channel = Channel> {
  readonly channel: Of;
  readonly value: string;
  readonly key: string;
}

/** The mail domains without a dot that have addresses; `any` lets the operator name whatever is stored. */
export interface IdentifierSettings {
  readonly emailLocalDomains: readonly string[] | 'any';
}

const NO_LOCAL_DOMAINS: IdentifierSettings = { emailLocalDomains: [] };
/** For the operator's own queries and lists. */
export const ANY_DOMAIN: IdentifierSettings = { emailLocalDomains: 'any' };

/** The form that each channel expects, for people who wrote something else. */
export const EXPECTED: Readonly<Record<Channel, string>> = {
  email: 'Expected an email address such as name@example.com.',
  sms: 'Expected a phone number with + and its country code, such as +49 151 23456789.',
  handle: 'Expected 1 to 64 of a-z, 0-9, dot, underscore and hyphen, with a letter or digit at both ends.',
};

/** The identifier in its normal form. Throws 400 `Invalid identifier`. */
export function parseIdentifier<Of extends Channel>(
  channel: Of,
  text: string,
  settings: IdentifierSettings = NO_LOCAL_DOMAINS,
): Identifier<Of> {
  const value = NORMAL_FORM[channel](text, settings);
  if (value === undefined) throw badRequest('Invalid identifier', EXPECTED[channel]);
  return { channel, value, key: `${channel}:${value}` };
}

/** `parseIdentifier` for a value of a query, where an unencoded `+` arrives as a space. */
export function parseQueryIdentifier(channel: Channel, text: string, settings?: IdentifierSettings): Identifier {
  return parseIdentifier(channel, channel === 'email' ? restorePlus(text) : text, settings);
}

/**
 * The identifier as the operator writes it, at any mail domain. It may have its channel as a prefix, which separates a
 * handle from a phone number. Throws 400 `Invalid identifier`.
 */
export function parseNamedIdentifier(text: string): Identifier {
  const [, channel, rest] = /^(email|sms|handle):(.+)$/.exec(text) ?? [];
  const value = rest ?? text;
  return parseQueryIdentifier((channel as Channel | undefined) ?? inferChannel(value), value, ANY_DOMAIN);
}

/** No address has a space before its `@`. */
function restorePlus(text: string): string {
  const trimmed = text.trim();
  const at = trimmed.indexOf('@');
  return trimmed.slice(0, at).replaceAll(' ', '+') + trimmed.slice(at);
}

/**
 * The channel an identifier's form suggests: `@` is an email address, `+` or a restored space before digits a phone,
 * all else a handle.
 */
export function inferChannel(text: string): Channel {
  if (text.includes('@')) return 'email';
  return /^\s*\+|^ \d/.test(text) ? 'sms' : 'handle';
}

/** The normal form of an identifier of the channel its form suggests, at any mail domain, or undefined. */
export function normalIdentifier(text: string): string | undefined {
  return NORMAL_FORM[inferChannel(text)](text, ANY_DOMAIN);
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

const NORMAL_FORM: Record<Channel, (text: string, settings: IdentifierSettings) => string | undefined> = {
  email: normalEmail,
  sms: normalPhone,
  handle: normalHandle,
};

/** The atoms of RFC 5321's `Dot-string`. */
const DOT_STRING = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/** RFC 5321 without quotes and address literals, the domain in ASCII, all in lower case: one mailbox, one identity. */
function normalEmail(text: string, { emailLocalDomains }: IdentifierSettings): string | undefined {
  const [local = '', domain = '', ...rest] = text.trim().normalize('NFC').split('@');
  if (rest.length > 0 || local.length > 64 || !DOT_STRING.test(local)) return undefined;
  const ascii = asciiDomain(domain);
  if (ascii === undefined || /^[\d.]+$/.test(ascii)) return undefined;
  const isPublic = ascii.includes('.') || emailLocalDomains === 'any' || emailLocalDomains.includes(ascii);
  const email = `${local}@${ascii}`.toLowerCase();
  return isPublic && email.length <= 254 ? email : undefined;
}

/** Domains that UTS 46 changes in case alone, and that no parser takes for an IPv4 address: nearly every domain. */
const PLAIN_DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** The domain's labels in ASCII (UTS 46 by way of the URL parser), or undefined. */
export function asciiDomain(domain: string): string | undefined {
  if (PLAIN_DOMAIN.test(domain) && !domain.includes('--')) return domain.toLowerCase();
  // The URL parser would take these as the end of the host, or as an escape.
  if (domain === '' || /[\s/\\?#:@%[\]]/.test(domain) || !URL.canParse(`http://${domain}/`)) return undefined;
  const host = new URL(`http://${domain}/`).hostname;
  const labels = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
  return labels.test(host) ? host : undefined;
}
