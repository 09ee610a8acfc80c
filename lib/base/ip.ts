/** A network: its address bytes and the number of leading bits that count. */
export interface Cidr {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

/**
 * The bytes (4 or 16) of an IPv4 or IPv6 address (RFC 4291), IPv4-mapped IPv6 as IPv4; undefined for anything else,
 * such as zones, ports and octal.
 */
export function parseIp(text: string): Uint8Array | undefined {
  if (!text.includes(':')) return parseIpv4(text);
  const bytes = parseIpv6(text);
  const mapped = bytes?.every((byte, i) => i >= 12 || byte === (i < 10 ? 0 : 0xff));
  return mapped ? bytes?.slice(12) : bytes;
}

/** A network from `address/bits`, or a single address; undefined when malformed. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', size, ...rest] = text.split('/');
  const bytes = parseIp(address);
  if (!bytes || rest.length > 0) return undefined;
  if (size === undefined) return { bytes, bits: bytes.length * 8 };
  if (!/^(0|[1-9]\d{0,2})$/.test(size)) return undefined;
  // The length of a mapped network counts the 96 bits that parsing took off.
  const bits = Number(size) - (address.includes(':') && bytes.length === 4 ? 96 : 0);
  return bits >= 0 && bits <= bytes.length * 8 ? { bytes, bits } : undefined;
}

/** Whether the address lies in the network; addresses of the other family never do. */
export function inCidr(ip: Uint8Array, { bytes, bits }: Cidr): boolean {
  if (ip.length !== bytes.length) return false;
  for (let i = 0; i < bytes.length; i++) {
    const mask = 0xff00 >> Math.min(8, Math.max(0, bits - 8 * i));
    if ((((ip[i] ?? 0) ^ (bytes[i] ?? 0)) & mask & 0xff) !== 0) return false;
  }
  return true;
}

/** Whether the address is 127.0.0.0/8 or ::1. */
export function isLoopback(ip: Uint8Array): boolean {
  return ip.length === 4 ? ip[0] === 127 : ip.every((byte, i) => byte === (i === 15 ? 1 : 0));
}

/**
 * The client key that limits count under: an IPv4 address, also one that an IPv6 address carries, or the /64 of an IPv6
 * address (a subscriber owns a whole /64).
 */
export function clientKey(ip: Uint8Array): string {
  if (ip.length === 4) return ip.join('.');
  const carrier = CARRIERS.find(({ network }) => inCidr(ip, network));
  if (carrier)
    return ip
      .slice(carrier.at, carrier.at + 4)
      .map((byte) => byte ^ carrier.mask)
      .join('.');
  const groups = [0, 2, 4, 6].map((i) => (((ip[i] ?? 0) << 8) | (ip[i + 1] ?? 0)).toString(16));
  return `${groups.join(':')}::/64`;
}

/** The network of a client key: the /48 of a /64, which a subscriber may get as a whole; else the key itself. */
export function networkKey(client: string): string {
  return client.endsWith('::/64') ? `${client.split(':').slice(0, 3).join(':')}::/48` : client;
}

/** A leading zero is octal to some parsers and decimal to others, so it is refused. */
const IPV4 = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/;

function parseIpv4(text: string): Uint8Array | undefined {
  const match = IPV4.exec(text);
  if (!match) return undefined;
  const bytes = new Uint8Array(4);
  for (let i = 0; i < 4; i++) {
    const part = Number(match[i + 1]);
    if (part > 255) return undefined;
    bytes[i] = part;
  }
  return bytes;
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '', true) : [];
  if (!head || !tail) return undefined;
  const missing = 16 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined;
  return Uint8Array.from([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

/** Bytes of colon-separated groups; the last may be IPv4 when `last` says the text ends here. */
function parseGroups(text: string, last: boolean): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [i, group] of groups.entries()) {
    const ipv4 = last && i === groups.length - 1 ? parseIpv4(group) : undefined;
    if (ipv4) bytes.push(...ipv4);
    else if (/^[0-9a-fA-F]{1,4}$/.test(group))
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255);
    else return undefined;
  }
  return bytes;
}

/**
 * Where IPv6 addresses carry their client's IPv4 address: NAT64 (RFC 6052) has all of IPv4 in one /64, 6to4 (RFC 3056)
 * a /48 for each, Teredo (RFC 4380) many /64s, the address inverted.
 */
const CARRIERS = [
  { network: cidr('64:ff9b::/96'), at: 12, mask: 0 },
  { network: cidr('2002::/16'), at: 2, mask: 0 },
  { network: cidr('2001::/32'), at: 12, mask: 0xff },
];

function cidr(text: string): Cidr {
  return parseCidr(text) as Cidr;
}
