import { fromEther, fromGwei } from 'ox/Value';
import { isObject, parseJson } from '../base/json.ts';
import { normalIdentifier } from '../identity/identifier.ts';
import type { Parser } from './setting.ts';

/** A parser that refuses a text with `problem` where `parse` returns undefined. An unset setting is refused. */
export function parsed<T>(problem: string, parse: (anyText: string) => T | undefined): Parser<T> {
  return (text) => {
    if (text === undefined) return { problem: 'must be set' };
    const value = parse(text);
    return value === undefined ? { problem } : { value };
  };
}

/** The parser of a setting that may be unset. */
export function unsetOr<T>(parser: Parser<T>): Parser<T | undefined> {
  return (text) => (text === undefined ? { value: undefined } : parser(text));
}

/** A comma list; white space around entries and empty entries are dropped. */
export function listOf<T>(problem: string, parse: (entry: string) => T | undefined) {
  return parsed(`must be a comma list of ${problem}`, (anyText): readonly T[] | undefined => {
    const entries = anyText.split(',').map((entry) => entry.trim());
    const values = entries.filter((entry) => entry !== '').map(parse);
    return values.every((value) => value !== undefined) ? values : undefined;
  });
}

/** A text that matches the pattern, unchanged. */
export const matching = (pattern: RegExp, problem: string) =>
  parsed(problem, (anyText) => (pattern.test(anyText) ? anyText : undefined));

const listMatching = (pattern: RegExp, problem: string) =>
  listOf(problem, (entry) => (pattern.test(entry) ? entry : undefined));

/** A contract, or one function of it, that `SPONSOR_CALLS` adds; lower-case. `*` is every call. */
export type AddedCall = '*' | { readonly to: string; readonly selector?: string };

/** A comma list of calls: `0xaddress`, `0xaddress:0xselector`, or `*`. */
export const addedCalls = listOf('0xaddress, 0xaddress:0xselector or *', (entry): AddedCall | undefined => {
  if (entry === '*') return '*';
  const [, to, selector] = /^(0x[0-9a-f]{40})(?::(0x[0-9a-f]{8}))?$/.exec(entry.toLowerCase()) ?? [];
  return to === undefined ? undefined : { to, ...(selector === undefined ? {} : { selector }) };
});

/** Any text. */
export const anyText = parsed('must be text', (any) => any);

/** One of the words. */
export const oneOf = <const W extends readonly string[]>(...words: W) =>
  parsed(`must be one of ${words.join(', ')}`, (word): W[number] | undefined => words.find((one) => one === word));

/** `true` or `false`. */
export const boolean = parsed('must be true or false', (word) =>
  word === 'true' ? true : word === 'false' ? false : undefined,
);

/** A decimal integer within bounds, both inclusive. */
export const integer = (min: number, max: number) =>
  parsed(`must be a whole number from ${min} to ${max}`, (digits) => {
    const value = /^\d{1,16}$/.test(digits) ? Number(digits) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });

/** An amount of ether in decimals (`0.002`, `0.002 ether`), as wei. */
export const ether = parsed('must be an amount of ether such as 0.002', (amount) => {
  const decimal = /^(\d{1,12}(?:\.\d{1,18})?)(?: ?ether)?$/.exec(amount)?.[1];
  return decimal === undefined ? undefined : fromEther(decimal);
});

/** An amount of ether that a day's sums of it still count exactly in gwei, as wei. */
export const etherOfGas = parsed('must be an amount of ether such as 0.002, up to 999999', (amount) => {
  const decimal = /^(\d{1,6}(?:\.\d{1,18})?)(?: ?ether)?$/.exec(amount)?.[1];
  return decimal === undefined ? undefined : fromEther(decimal);
});

/** A gas price in gwei in decimals (`10`, `0.5 gwei`), as wei, above zero. */
export const gwei = parsed('must be an amount of gwei above zero, under a million, such as 10', (amount) => {
  const decimal = /^(\d{1,6}(?:\.\d{1,9})?)(?: ?gwei)?$/.exec(amount)?.[1];
  return decimal === undefined || Number(decimal) === 0 ? undefined : fromGwei(decimal);
});

/** A header's name. */
export const headerName = matching(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header');

/** A sender: an address, or a name and an address in angle brackets. */
export const mailbox = matching(
  /^(?:[^<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
  'must be a mail address or `Name <address>`',
);

/** The domain of a sender, in lower case: mails are signed for it. */
export function domainOfSender(sender: string): string | undefined {
  return /@([^@\s<>]+?)>?$/.exec(sender.trim())?.[1]?.toLowerCase();
}

/** A Twilio SID of one kind. */
export const sid = (prefix: string) => matching(new RegExp(`^${prefix}[0-9A-Za-z]+$`), `must start with ${prefix}`);

/** Identifiers of any channel, in normal form. */
export const identifiers = listOf('email addresses, phone numbers (with +) or handles', normalIdentifier);

/** Domains, in ASCII and lower case. */
export const domains = listOf('domains', (entry) =>
  /^[^\s@/]+$/.test(entry) && URL.canParse(`http://${entry}/`) ? new URL(`http://${entry}/`).hostname : undefined,
);

/** DID methods without `did:`. */
export const didMethods = listMatching(/^[a-z0-9]+$/, 'DID methods such as key,web (without did:)');

/** Names of apps. */
export const apps = listMatching(/^[a-z0-9-]{1,64}$/, 'names of 1 to 64 of a-z, 0-9 and -');

/** The prefix of every phone number. */
export const EVERY_COUNTRY = '+';

/** Country prefixes as `+` and digits. */
export const countries = listOf('country prefixes such as +1,+49, or * for all', (entry) => {
  // Every number begins with a plus.
  if (entry === '*') return EVERY_COUNTRY;
  const digits = /^\+?([1-9]\d{0,6})$/.exec(entry)?.[1];
  return digits === undefined ? undefined : `+${digits}`;
});

/** A JSON object. */
export const jsonObject = parsed('must be a JSON object', (anyText) => {
  const value = parseJson(anyText);
  return isObject(value) ? value : undefined;
});

/**
 * JSON-RPC method names. Refused are methods that read or change the node itself, that bypass the bundler, or that
 * sponsor in a form of their own: only those of `pm_*` are judged.
 */
export const bundlerMethods = listOf(
  'JSON-RPC methods (never debug_*, admin_*, wallet_*, eth_sendRawTransaction, eth_call, nor a sponsor’s that is not pm_*)',
  (entry) =>
    /^[a-z][a-zA-Z0-9]*_[a-zA-Z0-9_]+$/.test(entry) &&
    !/^(?:debug|admin|wallet)_|^eth_(?:sendRawTransaction|call)$|^(?!pm_).*(?:sponsor|paymaster)/i.test(entry)
      ? entry
      : undefined,
);
