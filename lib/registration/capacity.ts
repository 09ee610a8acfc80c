import type { ErrorCode, LimitState } from '../base/error.ts';
import { numberOf } from '../db/database.ts';
import { boundsOf, type LimitName, limitOf } from '../limits/catalogue.ts';
import { lastOf, limitState } from '../limits/limits.ts';
import { sharingNetwork } from '../limits/networks.ts';
import { fullSite, sessionShare } from '../limits/session-share.ts';
import type { Platform } from '../platform.ts';
import { selectCapacity } from './capacity-store.ts';
import { relayStates, toFullRelays } from './relay-budget-store.ts';

/** A limit that refuses everybody new of a client for a while; null where no time ends it. */
export interface FullLimit {
  readonly error: ErrorCode;
  readonly retryAfterSeconds: number | null;
}

/** The limit that would refuse the next person whom this client registers; undefined while none does. */
export async function findFullLimit(
  { config, clock, db }: Pick<Platform, 'config' | 'clock' | 'db'>,
  ip: string,
): Promise<FullLimit | undefined> {
  const [now, network] = [clock.now(), sharingNetwork(config, ip) ?? ''];
  const share = sessionShare(config, ip, now);
  const { maxRegistrationsPerIp: perIp, registrationsPerIpWindowSeconds: windowSeconds, relayDailyMax } = config;
  const shareMax = boundsOf(config, 'relays-per-network').max;
  const asked = { ip, network, share, perIp, windowSeconds, dailyMax: relayDailyMax, shareMax, now };
  const [row = {}] = await db.read(selectCapacity(asked));
  const site = fullSite(config, row, share);
  const freesAt = numberOf(row, 'earliest_lapse');
  const full: LimitState | undefined = lastOf([
    ...(row['ip_full'] === 1 ? [limitState(config, 'registrations-per-ip', { bucket: ip, freesAt, now })] : []),
    ...(site ? [site] : []),
    ...relayStates(config, toFullRelays(row), { network, now }),
  ]);
  if (!full) return undefined;
  const error = limitOf(full.name as LimitName).error ?? 'rate_limited';
  return { error, retryAfterSeconds: full.retryAfterSeconds ?? null };
}
