import type { Address } from 'ox/Address';
import { checksum } from 'ox/Address';
import { type Cidr, isLoopback, parseCidr, parseIp } from '../base/ip.ts';
import { isPublicHost } from '../base/public-address.ts';
import { listOf, parsed } from './parsers.ts';
import type { Parser } from './setting.ts';

// Parsers of hosts, origins, URLs, networks and contract addresses.

/** An IP address or host name to listen on. */
export const host = parsed('must be an IP address or a host name', (name) =>
  parseIp(name) || /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(name) ? name : undefined,
);

/** Host names without a port. */
export const hostNames = listOf('host names without port', (given) => {
  const name = URL.canParse(`http://${given}`) ? new URL(`http://${given}`) : undefined;
  return name?.href === `http://${name?.hostname}/` ? name.hostname.replace(/\.$/, '') : undefined;
});

/** Names of hosts of the public internet, without a port. */
export const publicHosts = listOf('host names of the public internet, without https:// and port', (given) => {
  const name = parseHost(given);
  return name !== undefined && isPublicHost(name) && !name.includes(':') ? name.replace(/\.$/, '') : undefined;
});

/** Origins as browsers send them; those of extensions and of apps too. */
export const webOrigins = listOf('origins such as https://app.example.com', (given) => {
  const isOrigin = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@\\]+\/?$/i.test(given) && URL.canParse(given);
  if (!isOrigin) return undefined;
  const { origin } = new URL(given);
  return origin === 'null' ? given.toLowerCase().replace(/\/$/, '') : origin;
});

/**
 * A bare origin in the URL parser's spelling; plain http only on loopback, where browsers allow passkeys without TLS.
 */
export function parseOrigin(given: string): string | undefined {
  const url = parseUrl(given, ['https:', 'http:']);
  const bare = url !== undefined && url.pathname === '/' && url.search === '' && HOST_NAME.test(url.hostname);
  return bare && (url.protocol === 'https:' || isLoopbackHost(url.hostname)) ? url.origin : undefined;
}

/**
 * URLs may have further characters in a host, such as `;` and `$`: no host has them, and files of proxies split there.
 */
const HOST_NAME = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/** An origin as `parseOrigin` takes it. */
export const origin = parsed(
  'must be an origin: https://, a host and perhaps a port, no path (http:// only for localhost and loopback addresses)',
  parseOrigin,
);

/** Several origins. */
export const origins = listOf('https origins (http:// only for localhost and loopback addresses)', parseOrigin);

/** The parameters that the vault adds to a redirect URI (RFC 6749 sections 4.1.2 and 4.1.2.1, RFC 9207). */
const REDIRECT_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description'];

/** The required form of a redirect URI, in words. */
export const REDIRECT_URI_FORM =
  'as a browser writes it, https (http:// only for localhost and loopback addresses), without user, fragment and the ' +
  `parameters ${REDIRECT_PARAMETERS.join(', ')}`;

/**
 * Whether a text is a redirect URI in the spelling of the URL parser, so that the URI that is compared is the one that
 * is opened.
 */
export function isRedirectUri(text: string): boolean {
  const url = text.includes('#') ? undefined : parseUrl(text, ['https:', 'http:']);
  if (url?.href !== text || (url.protocol === 'http:' && !isLoopbackHost(url.hostname))) return false;
  return !REDIRECT_PARAMETERS.some((name) => url.searchParams.has(name));
}

/** The required form of a resource, in words. */
export const RESOURCE_URL_FORM =
  'as a browser writes it, https (http:// only for localhost and loopback addresses), without user and fragment';

/** Whether a text is the URL of a server that takes tokens (RFC 8707 section 2), in the URL parser's spelling. */
export function isResourceUrl(text: string): boolean {
  const url = text.includes('#') ? undefined : parseUrl(text, ['https:', 'http:']);
  return url?.href === text && (url.protocol === 'https:' || isLoopbackHost(url.hostname));
}

/** Several origins, also those that Android gives to apps. */
export const appOrigins = listOf(
  'https origins (http:// only for localhost and loopback addresses) or android:apk-key-hash:…',
  (entry) => (/^android:apk-key-hash:[\w-]{43}$/.test(entry) ? entry : parseOrigin(entry)),
);

/** RP IDs of passkeys: at least one host, without scheme and port. */
export const rpIds = parsed('must be hosts such as example.com, without https:// and port', (given) => {
  const hosts = given.split(',').map((entry) => parseHost(entry.trim()));
  return hosts.every((entry) => entry !== undefined) ? [...new Set(hosts)] : undefined;
});

/** A URL without its trailing slash. Credentials in it are refused because `fetch` does not accept them. */
export const httpUrl = parsed('must be an http(s) URL without user, password and fragment', (given) =>
  parseUrl(given, ['https:', 'http:'])?.href.replace(/\/+$/, ''),
);

/** An http(s) URL that is plain http in private networks alone: anyone on the way could read codes or backups. */
export const ownOrHttpsUrl: Parser<string> = (text) => {
  const reading = httpUrl(text);
  if (!('value' in reading) || reading.value.startsWith('https:')) return reading;
  return isPublicHost(new URL(reading.value).hostname)
    ? { problem: 'must be an https URL unless it is in your own network' }
    : reading;
};

/** An https URL without query and trailing slash, or null for `none`: pages link to it. */
export const explorerUrl = parsed(
  'must be an https URL without user, password, query and fragment, or none',
  (given): string | null | undefined => {
    if (given === 'none') return null;
    const url = parseUrl(given, ['https:']);
    return url?.search === '' ? url.href.replace(/\/+$/, '') : undefined;
  },
);

/** A mail server's URL: `smtp:` or `smtps:`, credentials percent-encoded. */
export const smtpUrl = parsed('must look like smtp://user:password@host:587 or smtps://user:password@host', (given) =>
  /^smtps?:\/\//i.test(given) && URL.canParse(given) && new URL(given).hostname !== '' ? given : undefined,
);

/** The database: a `file:` path or the URL of a libSQL server. */
export const databaseUrl = parsed(
  'must be file:<path>, or libsql:, https:, http:, wss: or ws: and the host of a libSQL server ' +
    '(put a token into DATABASE_AUTH_TOKEN)',
  (given) => {
    if (/^file:/i.test(given)) return /^file:[^?#]+$/i.test(given) ? given : undefined;
    const url = parseUrl(given, ['libsql:', 'https:', 'http:', 'wss:', 'ws:']);
    return url && !url.searchParams.has('authToken') ? given.replace(/\/+$/, '') : undefined;
  },
);

/** Networks in CIDR form, or `none`; one with fewer than `bitsMin` fixed bits is refused. */
export const networks = (bitsMin: number) => {
  const scope = bitsMin > 0 ? ' (none of them may contain every address)' : '';
  const problem = `must be a comma list of networks such as 127.0.0.1/32${scope}, or none`;
  return parsed(problem, (given): readonly string[] | undefined => {
    const entries = given === 'none' ? [] : given.split(',').map((entry) => entry.trim());
    return entries.every((entry) => (parseCidr(entry)?.bits ?? -1) >= bitsMin) ? entries : undefined;
  });
};

/** Networks in CIDR form, or `none`: an IPv6 client is known by its /64, and a network of everybody is refused. */
export const sharedNetworks = parsed(
  'must be a comma list of networks such as 203.0.113.0/24 or 2001:db8::/32 (IPv6 up to /64, none with every address), or none',
  (given): readonly Cidr[] | undefined => {
    const entries = given === 'none' ? [] : given.split(',').map((entry) => parseCidr(entry.trim()));
    const isOne = (entry: Cidr | undefined): entry is Cidr =>
      entry !== undefined && entry.bits > 0 && (entry.bytes.length === 4 || entry.bits <= 64);
    return entries.every(isOne) ? entries : undefined;
  },
);

/** A contract's address, checksummed (EIP-55; a wrong checksum is refused), or null for `none`. */
export const address = parsed(
  'must be an address (0x and 40 hex digits, a correct checksum where in mixed case) or none',
  (given): Address | null | undefined => (given === 'none' ? null : parseAddress(given)),
);

/** A comma list of contracts' addresses, as `address` reads them. */
export const addresses = listOf('addresses', parseAddress);

function parseAddress(given: string): Address | undefined {
  if (!/^0x[0-9a-fA-F]{40}$/.test(given) || /^0x0+$/.test(given)) return undefined;
  const written = checksum(given.toLowerCase() as Address);
  const isOneCase = given === given.toLowerCase() || given.slice(2) === given.slice(2).toUpperCase();
  return isOneCase || given === written ? written : undefined;
}

/** Whether a host name (of a URL, or to listen on) is a loopback one. */
export function isLoopbackHost(name: string): boolean {
  const ip = parseIp(name.replace(/^\[|\]$/g, ''));
  return ip ? isLoopback(ip) : /^(?:.+\.)?localhost$/i.test(name);
}

/** A host in the URL parser's spelling: lower-case, IDNs in ASCII. */
function parseHost(given: string): string | undefined {
  const isBare = /^(?:\[[0-9a-f:.]+\]|[^\s@/:?#\\[\]]+)$/i.test(given);
  return isBare && URL.canParse(`https://${given}`) ? new URL(`https://${given}`).hostname : undefined;
}

function parseUrl(given: string, protocols: readonly string[]): URL | undefined {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  const plain = url.username === '' && url.password === '' && url.hash === '' && url.hostname !== '';
  return plain && protocols.includes(url.protocol) ? url : undefined;
}

/** Whether a URL names this machine, as the BASE_URL of a developer does. */
export function isLoopbackOrigin(text: string): boolean {
  return URL.canParse(text) && isLoopbackHost(new URL(text).hostname);
}
