import { clientKey, inCidr, parseCidr, parseIp } from '../../lib/base/ip.ts';
import type { Log } from '../../lib/base/log.ts';
import { isPublicAddress } from '../../lib/base/public-address.ts';
import type { Context } from '../../lib/context.ts';
import type { Sighting } from '../../lib/identity/doctor-token.ts';
import { isAdminPath } from './admin.ts';
import type { Hosts } from './host.ts';
import type { Incoming, Route } from './route.ts';

/**
 * Finds the key that a client's limits are counted under: an IPv4 address, an IPv6 /64, or `unknown` for all others.
 */
export type FindClient = (request: Request, peer: string | undefined, route: Route) => string;

type Parts = Pick<Context, 'config' | 'log' | 'trustClientIpHeader' | 'namesProxies'>;

/**
 * Trusts the header from a trusted peer, or without a peer where the host vouches for it; else the peer is the client.
 * Loopback, trusted by default in development, is trusted only on requests that name this vault: a page that DNS
 * rebinding leads here could set the header too. The log warns once of each mistake that makes many clients one.
 */
export function createFindClient(parts: Parts, hosts: Hosts): FindClient {
  const { config, trustClientIpHeader, namesProxies } = parts;
  const lookUp = createPeers(config.trustedProxies);
  const warn = createWarnings(parts);
  const noPeer: Peer = { key: UNKNOWN, isTrusted: trustClientIpHeader, isPrivate: false };
  return (request, peer, route) => {
    if (peer === undefined && !trustClientIpHeader) warn.noPeer();
    const found = peer === undefined ? noPeer : lookUp(peer);
    if (!found.isTrusted) {
      if (found.isPrivate) warn.ifForwarded(request, peer);
      return found.key;
    }
    const named = request.headers.get(config.clientIpHeader);
    const ip = named === null ? undefined : parseIp(named.trim());
    if (!ip && (namesProxies || trustClientIpHeader)) warn.noHeader(route, peer);
    const isBelieved = ip !== undefined && (namesProxies || peer === undefined || hosts.isOwn(request));
    return isBelieved ? clientKey(ip) : found.key;
  };
}

/** The origin of a request, as the vault sees it. */
export function sightingOf({ ctx: { config }, client, peer, request: { headers } }: Incoming): Sighting {
  const trusted = peer !== undefined && createPeers(config.trustedProxies)(peer).isTrusted;
  const named = headers.get(config.clientIpHeader)?.slice(0, NAMED_CHARS_MAX) ?? null;
  return { client, peer: peer ?? null, trusted, named, forwarded: headers.has('x-forwarded-for') };
}

/** Longer than every address. */
const NAMED_CHARS_MAX = 200;

interface Peer {
  readonly key: string;
  readonly isTrusted: boolean;
  /** Whether an untrusted one is in a private network. */
  readonly isPrivate: boolean;
}

function createPeers(trustedProxies: readonly string[]): (peer: string) => Peer {
  const networks = trustedProxies.flatMap((text) => parseCidr(text) ?? []);
  const isListed = (ip: Uint8Array) => networks.some((network) => inCidr(ip, network));
  const peers = new Map<string, Peer>();
  return (peer) => {
    const known = peers.get(peer);
    if (known) return known;
    const ip = parseIp(peer);
    const isTrusted = ip !== undefined && isListed(ip);
    const found = { key: ip ? clientKey(ip) : UNKNOWN, isTrusted, isPrivate: !isTrusted && !isPublicAddress(peer) };
    // Behind a proxy there are few peers; without one, forgetting all costs no more than parsing again.
    if (peers.size >= PEERS_MAX) peers.clear();
    peers.set(peer, found);
    return found;
  };
}

const UNKNOWN = 'unknown';
const PEERS_MAX = 1024;

/** Warnings of a missing or wrong set-up, each once. A proxy's address is the operator's own. */
function createWarnings({ config, log }: Parts) {
  const header = config.clientIpHeader;
  const warnOnce = createOnce(log);
  return {
    noPeer: () =>
      warnOnce('client_unknown', {
        message: 'The host hands in no peer address: all clients share one limit. See docs/embedding.md.',
      }),
    /** Health checks and the operator's own requests need no header. */
    noHeader(route: Route, peer: string | undefined) {
      const isCounted = (route.method === 'POST' || route.limit !== undefined) && !isAdminPath(route.path);
      if (!isCounted) return;
      const message = `A request of a trusted proxy names no client in ${header}: its clients share one limit. Let the proxy set the header.`;
      warnOnce('proxy_names_no_client', { peer, message });
    },
    ifForwarded(request: Request, peer: string | undefined) {
      if (warnOnce.hasSaid('proxy_not_trusted')) return;
      if (!request.headers.has('x-forwarded-for') && !request.headers.has(header)) return;
      const message = `A private address that TRUSTED_PROXIES does not list forwards requests: its clients share one limit. If it is your proxy, list it and let it set ${header}.`;
      warnOnce('proxy_not_trusted', { peer, message });
    },
  };
}

function createOnce(log: Log) {
  const said = new Set<string>();
  const warnOnce = (event: string, members: Readonly<Record<string, unknown>>): void => {
    if (said.has(event)) return;
    said.add(event);
    log({ level: 'warn', event, ...members });
  };
  return Object.assign(warnOnce, { hasSaid: (event: string) => said.has(event) });
}
