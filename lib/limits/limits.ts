import { MINUTE_MS } from '../base/clock.ts';
import { type LimitState, VaultError } from '../base/error.ts';
import { createCache } from '../base/lru-cache.ts';
import type { Platform } from '../platform.ts';
import { boundsOf, type LimitName, limitOf } from './catalogue.ts';
import { sharingSite } from './networks.ts';

export { slotOf } from './budget-store.ts';
export { clearedAt } from './store.ts';

/** Clients of one limit that are remembered, and networks: one of these has many more times to remember. */
export const REQUEST_LIMIT_CLIENTS_MAX = 20_000;
const REQUEST_LIMIT_NETWORKS_MAX = 1_250;

/** Spends one request of the client in the rolling minute. Throws 429 `rate_limited` when none is left. */
export type RequestLimit = (client: string) => void;

/**
 * A request limit kept in memory: the exact times of each client's last `limit` requests, for at most
 * `REQUEST_LIMIT_CLIENTS_MAX` clients (or fewer networks), the longest silent forgotten first.
 */
export function createRequestLimit(ctx: Ctx, name: LimitName): RequestLimit {
  const { max } = boundsOf(ctx.config, name);
  const recentOf = createRecent(
    limitOf(name).bucket === 'network' ? REQUEST_LIMIT_NETWORKS_MAX : REQUEST_LIMIT_CLIENTS_MAX,
  );
  return (client) => {
    const now = ctx.clock.monotonic();
    const recent = recentOf(client);
    if (!take(recent, max, now)) throw refusal(ctx, name, client, recent, now);
  };
}

/** The limit of reads: the client's own, and of a /48 all its clients' together. */
export function createReadLimit(ctx: Ctx): RequestLimit {
  const [ofClient, ofNetwork] = [createRequestLimit(ctx, 'reads-per-ip'), createRequestLimit(ctx, 'reads-per-network')];
  return (client) => {
    // A request that the client's own limit refuses takes nothing from the network's.
    ofClient(client);
    const network = sharingSite(ctx.config, client);
    if (network !== undefined) ofNetwork(network);
  };
}

/** The state of a full limit; `freesAt`, ms, is when its bucket has room again, null where time does not free it. */
export function limitState(
  config: Platform['config'],
  name: LimitName,
  { bucket, freesAt, now }: { readonly bucket: string; readonly freesAt: number | null; readonly now: number },
): LimitState {
  const { max, windowSeconds } = boundsOf(config, name);
  const retry = freesAt === null ? {} : { retryAfterSeconds: Math.ceil((freesAt - now) / 1000) };
  return { name, limit: max, windowSeconds, bucket, ...retry };
}

/** The 429 of a full limit, counted. */
export function limitReached({ metrics }: Pick<Platform, 'metrics'>, limit: LimitState): VaultError {
  metrics.counter('vault_limits_reached_total').add({ limit: limit.name });
  return new VaultError(limitOf(limit.name as LimitName).error ?? 'rate_limited', { limit });
}

/** The full limit that frees last; undefined of none. */
export function lastOf(full: readonly LimitState[]): LimitState | undefined {
  const waitOf = ({ retryAfterSeconds = Number.POSITIVE_INFINITY }: LimitState) => retryAfterSeconds;
  return full.toSorted((a, b) => waitOf(b) - waitOf(a))[0];
}

/** The 429 of the full limit that frees last. Call it with at least one. */
export function lastLimitReached(ctx: Pick<Platform, 'metrics'>, full: readonly LimitState[]): VaultError {
  const last = lastOf(full);
  if (!last) throw new Error('no limit is full');
  return limitReached(ctx, last);
}

/**
 * The 429 of an IP without a free registration; `freesAt` is when a slot frees, null when all its sessions count for
 * good.
 */
export function ipLimitReached(
  { config, metrics }: Pick<Platform, 'config' | 'metrics'>,
  ip: string,
  freesAt: number | null,
  now: number,
): VaultError {
  return limitReached({ metrics }, limitState(config, 'registrations-per-ip', { bucket: ip, freesAt, now }));
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'metrics'>;

/** A ring of times that grows to the limit; `oldest` is where the next one goes once it is full. */
interface Recent {
  readonly times: number[];
  oldest: number;
}

function createRecent(max: number): (client: string) => Recent {
  const clients = createCache<string, Recent>(max);
  return (client) => {
    const known = clients.get(client);
    if (known) return known;
    const recent = { times: [], oldest: 0 };
    clients.set(client, recent);
    return recent;
  };
}

function refusal({ config, metrics }: Ctx, name: LimitName, client: string, recent: Recent, now: number) {
  const isNever = boundsOf(config, name).max === 0;
  const freesAt = isNever ? null : (recent.times[recent.oldest] ?? now) + MINUTE_MS;
  return limitReached({ metrics }, limitState(config, name, { bucket: client, freesAt, now }));
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
