import type { Config } from '../../lib/config/config.ts';
import { type SessionShare, sessionShare } from '../../lib/limits/session-share.ts';

/** The settings of shares, as by default. */
export const SHARES: Pick<Config, 'networkSharePercent' | 'sharedNetworks' | 'maxRegistrationsPerIp'> = {
  networkSharePercent: 5,
  sharedNetworks: [],
  maxRegistrationsPerIp: 3,
};

/** What a client's /48 may open; of an IPv4 address nothing is counted. */
export function shareOf(now: number, client = '203.0.113.7'): SessionShare {
  return sessionShare(SHARES as Config, client, now);
}
