import type { Clock } from './clock.ts';
import { DAY_MS, MINUTE_MS, REQUEST_LIMIT_CLIENTS_MAX } from './constants.ts';
import type { Context } from './context.ts';
import { type LimitState, VaultError } from './error.ts';

/** Spends one request of the client in the rolling minute. Throws 429 `rate_limited` when none is left. */
export type RequestLimit = (client: string) => void;

/** A request limit kept in memory: the exact times of each client's last `limit` requests, for at most `REQUEST_LIMIT_CLIENTS_MAX` clients, the longest silent forgotten first. */
export function createRequestLimit(
  { clock, metrics }: { clock: Clock; metrics: Context['metrics'] },
  { name, limit }: { name: string; limit: number },
): RequestLimit {
  const clients = new Map<string, Recent>();
  return (client) => {
    const now = clock.now();
    const recent = clients.get(client) ?? { times: [], oldest: 0 };
    // Put back at the end, so that the map's order is the order of last use.
    clients.delete(client);
    clients.set(client, recent);
    if (clients.size > REQUEST_LIMIT_CLIENTS_MAX) clients.delete(clients.keys().next().value as string);
    if (take(recent, limit, now)) return;
    metrics.counter('vault_limits_reached_total', 'Requests refused by a limit.').add({ limit: name });
    const retryAfterSeconds = Math.ceil(((recent.times[recent.oldest] ?? now) + MINUTE_MS - now) / 1000);
    throw new VaultError('rate_limited', 'rate_limited', {
      limit: { name, limit, windowSeconds: MINUTE_MS / 1000, ...(limit > 0 ? { retryAfterSeconds } : {}) },
    });
  };
}

/** The 429 of an IP without a free registration; `earliestLapse` is when a slot frees, null when all its sessions are linked for good. */
export function ipLimitReached(
  { config, metrics }: Pick<Context, 'config' | 'metrics'>,
  earliestLapse: number | null,
  now: number,
): VaultError {
  metrics.counter('vault_limits_reached_total', 'Requests refused by a limit.').add({ limit: 'registrations-per-ip' });
  const limit: LimitState = {
    name: 'registrations-per-ip',
    limit: config.maxRegistrationsPerIp,
    windowSeconds: config.sessionTtlSeconds,
    ...(earliestLapse === null ? {} : { retryAfterSeconds: Math.ceil((earliestLapse - now) / 1000) }),
  };
  return new VaultError('ip_limit_reached', 'ip_limit_reached', { limit });
}

/** The 429 of a day without a free relay; `slotSince` is when the one that has to leave the window was asked for, null when the limit is none at all. */
export function relayLimitReached(
  { config, metrics }: Pick<Context, 'config' | 'metrics'>,
  slotSince: number | null,
  now: number,
): VaultError {
  metrics.counter('vault_limits_reached_total', 'Requests refused by a limit.').add({ limit: 'relays-per-day' });
  const limit: LimitState = {
    name: 'relays-per-day',
    limit: config.relayDailyMax,
    windowSeconds: DAY_MS / 1000,
    ...(slotSince === null ? {} : { retryAfterSeconds: Math.ceil((slotSince + DAY_MS - now) / 1000) }),
  };
  return new VaultError('relay_limit_reached', 'relay_limit_reached', { limit });
}

/** A ring of times that grows to the limit; `oldest` is where the next one goes once it is full. */
interface Recent {
  readonly times: number[];
  oldest: number;
}

function take(recent: Recent, limit: number, now: number): boolean {
  const { times } = recent;
  if (times.length < limit) {
    // A client that came back after a quiet minute starts small again.
    if ((times.at(-1) ?? now) <= now - MINUTE_MS) times.length = 0;
    times.push(now);
    return true;
  }
  if (limit === 0 || (times[recent.oldest] as number) > now - MINUTE_MS) return false;
  times[recent.oldest] = now;
  recent.oldest = (recent.oldest + 1) % limit;
  return true;
}
