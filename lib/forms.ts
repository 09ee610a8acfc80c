import * as Address from 'ox/Address';
import * as Value from 'ox/Value';
import * as v from 'valibot';
import { fromBase64, fromHex } from './bytes.ts';
import { SECRET_BYTES_MIN, SECRET_DISTINCT_BYTES_MIN } from './constants.ts';
import { isLoopback, parseCidr, parseIp } from './ip.ts';

// The forms a setting's text may take, as valibot schemas. Their messages complete the sentence "NAME …" and never repeat the text.

/** A text turned into a value; undefined is refused with the problem. */
export function parsed<T>(problem: string, parse: (text: string) => T | undefined) {
  return v.pipe(
    v.string('must be set'),
    v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
      const value = parse(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message: problem });
      return NEVER;
    }),
  );
}

/** A comma list; white space around entries and empty entries are dropped. */
export function listOf<T>(problem: string, parse: (entry: string) => T | undefined) {
  return parsed(`must be a comma list of ${problem}`, (text): readonly T[] | undefined => {
    const entries = text.split(',').map((entry) => entry.trim());
    const values = entries.filter((entry) => entry !== '').map(parse);
    return values.every((value) => value !== undefined) ? values : undefined;
  });
}

const matching = (pattern: RegExp, problem: string) =>
  parsed(problem, (text) => (pattern.test(text) ? text : undefined));

const listMatching = (pattern: RegExp, problem: string) =>
  listOf(problem, (entry) => (pattern.test(entry) ? entry : undefined));

/** Any text. */
export const text = parsed('must be text', (any) => any);

/** One of the words. */
export const oneOf = <const W extends readonly string[]>(...words: W) =>
  parsed(`must be one of ${words.join(', ')}`, (word): W[number] | undefined => words.find((one) => one === word));

/** A switch. */
export const boolean = parsed('must be true or false', (word) =>
  word === 'true' ? true : word === 'false' ? false : undefined,
);

/** A decimal integer within bounds, both inclusive. */
export const integer = (min: number, max: number) =>
  parsed(`must be a whole number from ${min} to ${max}`, (digits) => {
    const value = /^\d{1,16}$/.test(digits) ? Number(digits) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });

/** An amount of ether in decimals (`0.002`, `0.002 ether`), in wei. */
export const ether = parsed('must be an amount of ether such as 0.002', (amount) => {
  const decimal = /^(\d{1,12}(?:\.\d{1,18})?)(?: ?ether)?$/.exec(amount)?.[1];
  return decimal === undefined ? undefined : Value.fromEther(decimal);
});

/** An IP address or host name to listen on. */
export const host = parsed('must be an IP address or a host name', (name) =>
  parseIp(name) || /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(name) ? name : undefined,
);

/** A bare origin in the URL parser's spelling; plain http only on loopback, the one place where browsers grant passkeys without TLS. */
export function parseOrigin(given: string): string | undefined {
  const url = parseUrl(given, ['https:', 'http:']);
  const bare = url !== undefined && url.pathname === '/' && url.search === '';
  return bare && (url.protocol === 'https:' || isLoopbackHost(url.hostname)) ? url.origin : undefined;
}

/** An origin as `parseOrigin` takes it. */
export const origin = parsed(
  'must be an origin: https://, a host and perhaps a port, no path (http:// only for localhost and loopback addresses)',
  parseOrigin,
);

/** Several origins. */
export const origins = listOf('https origins (http:// only for localhost and loopback addresses)', parseOrigin);

/** A URL without its trailing slash. Credentials in it are refused because `fetch` does not take them. */
export const httpUrl = parsed('must be an http(s) URL without user, password and fragment', (given) =>
  parseUrl(given, ['https:', 'http:'])?.href.replace(/\/+$/, ''),
);

/** A mail server: `smtp:` or `smtps:`, credentials percent-encoded. */
export const smtpUrl = parsed('must look like smtp://user:password@host:587 or smtps://user:password@host', (given) =>
  /^smtps?:\/\//i.test(given) && URL.canParse(given) && new URL(given).hostname !== '' ? given : undefined,
);

/** Where everything is stored: a `file:` path or a libSQL server. */
export const databaseUrl = parsed(
  'must be file:<path>, or libsql:, https:, http:, wss: or ws: and the host of a libSQL server (a token goes into DATABASE_AUTH_TOKEN)',
  (given) => {
    if (/^file:/i.test(given)) return /^file:[^?#]+$/i.test(given) ? given : undefined;
    const url = parseUrl(given, ['libsql:', 'https:', 'http:', 'wss:', 'ws:']);
    return url && !url.searchParams.has('authToken') ? given.replace(/\/+$/, '') : undefined;
  },
);

/** Networks in CIDR form, or `none`; one that leaves fewer than `bitsMin` bits fixed is refused. */
export const networks = (bitsMin: number) => {
  const problem = `must be a comma list of networks such as 127.0.0.1/32${bitsMin > 0 ? ' (none that holds every address)' : ''}, or none`;
  return parsed(problem, (given): readonly string[] | undefined => {
    const entries = given === 'none' ? [] : given.split(',').map((entry) => entry.trim());
    return entries.every((entry) => (parseCidr(entry)?.bits ?? -1) >= bitsMin) ? entries : undefined;
  });
};

/** A header's name. */
export const headerName = matching(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header');

/** A contract's address, checksummed (EIP-55; a wrong checksum is refused), or null for `none`. */
export const address = parsed(
  'must be an address (0x and 40 hex digits, a correct checksum where in mixed case) or none',
  (given): Address.Address | null | undefined => {
    if (given === 'none') return null;
    if (!/^0x[0-9a-fA-F]{40}$/.test(given) || /^0x0+$/.test(given)) return undefined;
    // One hash for checking and making: they are most of the program's start.
    const checksummed = Address.checksum(given.toLowerCase() as Address.Address);
    const isOneCase = given === given.toLowerCase() || given.slice(2) === given.slice(2).toUpperCase();
    return isOneCase || given === checksummed ? checksummed : undefined;
  },
);

const SECRET_FORM = `at least ${SECRET_BYTES_MIN} random bytes in hex or base64url, for instance from: openssl rand -hex 32`;

/** Bytes of hex (hex digits only, even length), else of base64url; too few or too plainly not random ones are refused. */
export const secret = parsed(`must be ${SECRET_FORM}`, parseSecret);

/** The same rule for a secret that callers present as it is written. */
export const secretText = parsed(`must be ${SECRET_FORM}`, (given) => (parseSecret(given) ? given : undefined));

/** Up to `max` secrets behind each other. */
export const secrets = (max: number) =>
  parsed(`must be one to ${max} keys with commas between, each ${SECRET_FORM}`, (given) => {
    const keys = given.split(',').map((entry) => parseSecret(entry.trim()));
    return keys.length <= max && keys.every((key) => key !== undefined) ? keys : undefined;
  });

/** A token of visible ASCII characters. */
export const token = (min: number) =>
  parsed(`must be ${min > 1 ? `at least ${min} ` : ''}visible ASCII characters without spaces`, (given) =>
    given.length >= min && /^[\x21-\x7e]+$/.test(given) ? given : undefined,
  );

/** A secp256k1 private key as 0x-hex. */
export const privateKey = parsed('must be a secp256k1 private key: 64 hex digits, with or without 0x', (given) => {
  const hex = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(given)?.[1]?.toLowerCase();
  if (hex === undefined) return undefined;
  const inRange = BigInt(`0x${hex}`) > 0n && BigInt(`0x${hex}`) < SECP256K1_ORDER;
  return inRange ? (`0x${hex}` as const) : undefined;
});

/** A Standard Webhooks symmetric key, as bytes. */
export const webhookSecret = parsed('must be whsec_ and 24 to 64 bytes in base64', (given) => {
  const bytes = given.startsWith('whsec_') ? fromBase64(given.slice('whsec_'.length)) : undefined;
  return bytes && bytes.length >= 24 && bytes.length <= 64 ? bytes : undefined;
});

/** A sender: an address, or a name and an address in angle brackets. */
export const mailbox = matching(
  /^(?:[^<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
  'must be a mail address or `Name <address>`',
);

/** A Twilio SID of one kind. */
export const sid = (prefix: string) => matching(new RegExp(`^${prefix}[0-9A-Za-z]+$`), `must start with ${prefix}`);

/** Identifiers, in lower case. */
export const words = listOf('identifiers', (entry) => entry.toLowerCase());

/** Domains, in ASCII and lower case. */
export const domains = listOf('domains', (entry) =>
  /^[^\s@/]+$/.test(entry) && URL.canParse(`http://${entry}/`) ? new URL(`http://${entry}/`).hostname : undefined,
);

/** DID methods without `did:`. */
export const didMethods = listMatching(/^[a-z0-9]+$/, 'DID methods such as key,web (without did:)');

/** Names of apps. */
export const apps = listMatching(/^[a-z0-9-]{1,64}$/, 'names of 1 to 64 of a-z, 0-9 and -');

/** Country prefixes as `+` and digits. */
export const countries = listOf('country prefixes such as +1,+49', (entry) => {
  const digits = /^\+?([1-9]\d{0,6})$/.exec(entry)?.[1];
  return digits === undefined ? undefined : `+${digits}`;
});

/** Methods that no setting may open: they read or change the node itself, or have a cheaper way round the bundler. */
export const bundlerMethods = listOf(
  'JSON-RPC methods (never debug_*, admin_*, eth_sendRawTransaction or eth_call)',
  (entry) =>
    /^[a-z][a-zA-Z0-9]*_[a-zA-Z0-9_]+$/.test(entry) &&
    !/^(?:debug|admin)_|^eth_(?:sendRawTransaction|call)$/.test(entry)
      ? entry
      : undefined,
);

/** Whether a host name (of a URL, or to listen on) stays on this machine. */
export function isLoopbackHost(name: string): boolean {
  const ip = parseIp(name.replace(/^\[|\]$/g, ''));
  return ip ? isLoopback(ip) : /^(?:.+\.)?localhost$/i.test(name);
}

/** The order of secp256k1 (SEC 2 section 2.4.1). */
const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The bytes of a secret's text, undefined when it is none. */
export function parseSecret(given: string): Uint8Array | undefined {
  const bytes = fromHex(given) ?? fromBase64(given);
  const strong = bytes && bytes.length >= SECRET_BYTES_MIN && new Set(bytes).size >= SECRET_DISTINCT_BYTES_MIN;
  return strong ? bytes : undefined;
}

function parseUrl(given: string, protocols: readonly string[]): URL | undefined {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  const plain = url.username === '' && url.password === '' && url.hash === '' && url.hostname !== '';
  return plain && protocols.includes(url.protocol) ? url : undefined;
}
