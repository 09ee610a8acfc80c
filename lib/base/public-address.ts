import { inCidr, parseCidr, parseIp } from './ip.ts';
import { once } from './once.ts';

/**
 * Whether a text is an IPv4 or IPv6 address of the public internet. Not public: private, loopback, link-local, shared
 * (CGNAT), multicast, documentation, IPv4 inside IPv6 (NAT64, 6to4, Teredo), metadata services (IANA special-purpose
 * registries, RFC 6890).
 */
export function isPublicAddress(text: string): boolean {
  const ip = parseIp(text);
  if (!ip || SPECIAL().some((network) => inCidr(ip, network))) return false;
  return ip.length === 4 || GLOBAL_UNICAST().some((network) => inCidr(ip, network));
}

/**
 * Whether a URL's host is public as far as its text shows: a public address, or a name outside the private suffixes.
 */
export function isPublicHost(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  if (parseIp(host)) return isPublicAddress(host);
  return host.includes('.') && !PRIVATE_NAMES.test(host);
}

/** The only IPv6 range that is allocated; addresses outside it need no list. */
const GLOBAL_UNICAST = networks('2000::/3');

const SPECIAL = networks(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24',
  '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
  // Azure's metadata and DNS service, which has a public address.
  '168.63.129.16/32',
  '2001::/23 2001:db8::/32 2002::/16 3fff::/20',
);

/** RFC 6761, RFC 6762, RFC 8375, and the suffixes that clouds and container networks use. */
const PRIVATE_NAMES = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)$/;

function networks(...lists: readonly string[]) {
  return once(() => lists.flatMap((list) => list.split(' ')).flatMap((text) => parseCidr(text) ?? []));
}
