import { clientKey, inCidr, parseCidr, parseIp } from '../../lib/base/ip.ts';
import type { Context } from '../../lib/context.ts';

/**
 * Finds the key that a client's limits are counted under: an IPv4 address, an IPv6 /64, or `unknown` for all others.
 */
export type FindClient = (request: Request, peer: string | undefined) => string;

/**
 * Trusts the header from a trusted peer, or without a peer where the host vouches for it; else the peer is the client.
 */
export function createFindClient({
  config,
  trustClientIpHeader,
}: Pick<Context, 'config' | 'trustClientIpHeader'>): FindClient {
  const networks = config.trustedProxies.map(parseCidr).filter((network) => network !== undefined);
  const peers = new Map<string, Peer>();
  const lookUp = (peer: string): Peer => {
    const known = peers.get(peer);
    if (known) return known;
    const ip = parseIp(peer);
    const trusted = !!ip && networks.some((network) => inCidr(ip, network));
    const found = { key: ip ? clientKey(ip) : UNKNOWN, trusted };
    // Behind a proxy there are few peers; without one, forgetting all costs no more than parsing again.
    if (peers.size >= PEERS_MAX) peers.clear();
    peers.set(peer, found);
    return found;
  };
  return (request, peer) => {
    const found = peer === undefined ? { key: UNKNOWN, trusted: trustClientIpHeader } : lookUp(peer);
    if (!found.trusted) return found.key;
    const named = request.headers.get(config.clientIpHeader);
    const ip = named === null ? undefined : parseIp(named.trim());
    return ip ? clientKey(ip) : found.key;
  };
}

interface Peer {
  readonly key: string;
  readonly trusted: boolean;
}

const UNKNOWN = 'unknown';
const PEERS_MAX = 1024;
