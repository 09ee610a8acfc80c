import { inCidr, networkKey, parseIp } from '../base/ip.ts';
import type { Platform } from '../platform.ts';

type Config = Pick<Platform['config'], 'networkSharePercent' | 'sharedNetworks'>;

/**
 * The network whose share a client's uses count for: an IPv4 address, an IPv6 /48, or `unknown`. Undefined where no
 * network has a share, and for a client of `SHARED_NETWORKS`.
 */
export function sharingNetwork({ networkSharePercent, sharedNetworks }: Config, client: string): string | undefined {
  if (networkSharePercent >= 100) return undefined;
  if (sharedNetworks.length > 0) {
    const ip = parseIp(client.replace('/64', ''));
    if (ip && sharedNetworks.some((network) => inCidr(ip, network))) return undefined;
  }
  return networkKey(client);
}

/**
 * The same of a /48 alone, for limits whose share is more than one client may use: an IPv4 address is one client.
 */
export function sharingSite(config: Config, client: string): string | undefined {
  const network = sharingNetwork(config, client);
  return network === client ? undefined : network;
}
