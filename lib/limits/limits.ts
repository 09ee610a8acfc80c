import type { Clock } from '../base/clock.ts';
import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { type LimitState, VaultError } from '../base/error.ts';
import { touch } from '../base/lru-cache.ts';
import type { Platform } from '../platform.ts';

export { clearedAt } from './store.ts';

/** Clients of one limit that are remembered. */
export const REQUEST_LIMIT_CLIENTS_MAX = 20_000;

/** Spends one request of the client in the rolling minute. Throws 429 `rate_limited` when none is left. */
export type RequestLimit = (client: string) => void;

/** A request limit kept in memory: the exact times of each client's last `limit` requests, for at most `REQUEST_LIMIT_CLIENTS_MAX` clients, the longest silent forgotten first. */
export function createRequestLimit(vault: Services, named: Named): RequestLimit {
  const recentOf = createRecent();
  return (client) => {
    const now = vault.clock.now();
    const recent = recentOf(client);
    if (!take(recent, named.limit, now)) throw limitReached(vault, named, client, recent, now);
  };
}

/** A limit of failures: `fail` counts one, `check` throws 429 `rate_limited` while as many as are allowed lie in the rolling minute. */
export interface FailureLimit {
  check(client: string): void;
  fail(client: string): void;
}

/** A limit of failures kept in memory, like that of requests. */
export function createFailureLimit(vault: Services, named: Named): FailureLimit {
  const recentOf = createRecent();
  return {
    check(client) {
      const now = vault.clock.now();
      const recent = recentOf(client);
      if (isFull(recent, named.limit, now)) throw limitReached(vault, named, client, recent, now);
    },
    fail(client) {
      take(recentOf(client), named.limit, vault.clock.now());
    },
  };
}

/** The 429 of an IP without a free registration; `earliestLapse` is when a slot frees, null when all its sessions are linked for good. */
export function ipLimitReached(
  { config, metrics }: Pick<Platform, 'config' | 'metrics'>,
  ip: string,
  earliestLapse: number | null,
  now: number,
): VaultError {
  metrics.counter('vault_limits_reached_total', 'Requests refused by a limit.').add({ limit: 'registrations-per-ip' });
  const limit: LimitState = {
    name: 'registrations-per-ip',
    limit: config.maxRegistrationsPerIp,
    windowSeconds: config.sessionTtlSeconds,
    bucket: ip,
    ...(earliestLapse === null ? {} : { retryAfterSeconds: Math.ceil((earliestLapse - now) / 1000) }),
  };
  return new VaultError('ip_limit_reached', { limit });
}

/** The 429 of a day without a free relay; `slotSince` is when the one that has to leave the window was asked for, null when the limit is none at all. */
export function relayLimitReached(
  { config, metrics }: Pick<Platform, 'config' | 'metrics'>,
  slotSince: number | null,
  now: number,
): VaultError {
  metrics.counter('vault_limits_reached_total', 'Requests refused by a limit.').add({ limit: 'relays-per-day' });
  const limit: LimitState = {
    name: 'relays-per-day',
    limit: config.relayDailyMax,
    windowSeconds: DAY_MS / 1000,
    bucket: '',
    ...(slotSince === null ? {} : { retryAfterSeconds: Math.ceil((slotSince + DAY_MS - now) / 1000) }),
  };
  return new VaultError('relay_limit_reached', { limit });
}

interface Services {
  readonly clock: Clock;
  readonly metrics: Platform['metrics'];
}

interface Named {
  readonly name: string;
  readonly limit: number;
}

/** A ring of times that grows to the limit; `oldest` is where the next one goes once it is full. */
interface Recent {
  readonly times: number[];
  oldest: number;
}

function createRecent(): (client: string) => Recent {
  const clients = new Map<string, Recent>();
  return (client) => {
    const recent = clients.get(client) ?? { times: [], oldest: 0 };
    touch(clients, client, recent, REQUEST_LIMIT_CLIENTS_MAX);
    return recent;
  };
}

function limitReached({ metrics }: Services, { name, limit }: Named, client: string, recent: Recent, now: number) {
  metrics.counter('vault_limits_reached_total', 'Requests refused by a limit.').add({ limit: name });
  const retryAfterSeconds = Math.ceil(((recent.times[recent.oldest] ?? now) + MINUTE_MS - now) / 1000);
  const retry = limit > 0 ? { retryAfterSeconds } : {};
  return new VaultError('rate_limited', {
    limit: { name, limit, windowSeconds: MINUTE_MS / 1000, bucket: client, ...retry },
  });
}

function isFull({ times, oldest }: Recent, limit: number, now: number): boolean {
  return times.length >= limit && (limit === 0 || (times[oldest] as number) > now - MINUTE_MS);
}

function take(recent: Recent, limit: number, now: number): boolean {
  const { times } = recent;
  if (times.length < limit) {
    // A client that came back after a quiet minute starts small again.
    if ((times.at(-1) ?? now) <= now - MINUTE_MS) times.length = 0;
    times.push(now);
    return true;
  }
  if (isFull(recent, limit, now)) return false;
  times[recent.oldest] = now;
  recent.oldest = (recent.oldest + 1) % limit;
  return true;
}
