import { DAY_MS } from '../base/clock.ts';
import type { LimitState } from '../base/error.ts';
import { fewerThan, type Row } from '../db/database.ts';
import { RELAY_COUNTS } from '../limits/limit.ts';
import { clearedAt, limitState } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';

/** The relays of a day, and those of one network among them. Their rows are counted: each costs the operator ether. */
const RELAY_BUDGETS = ['relays-per-day', 'relays-per-network'] as const;

type RelayBudget = (typeof RELAY_BUDGETS)[number];

/**
 * SQL of each budget's column, true while it is full. Needs `:day_ago`, the two maxima, and `:relay_network`, '' where
 * that has no share.
 */
export const RELAY_FULL = {
  relay_day_full: `NOT ${hasRoom('relays-per-day')}`,
  relay_network_full: `NOT ${hasRoom('relays-per-network')}`,
} as const;

/** SQL of the other columns that `toFullRelays` reads, with the same parameters. */
export const RELAY_SINCE = RELAY_BUDGETS.map(
  (kind) => `(SELECT created_at ${countedOf(kind)} AND ${maxOf(kind)} > 0 ORDER BY created_at DESC
  LIMIT 1 OFFSET max(${maxOf(kind)} - 1, 0)) AS ${columnOf(kind)}_since`,
).join(',\n  ');

/** A full budget of relays, and when the relay was queued that has to leave its window, null if none will. */
export interface FullRelays {
  readonly kind: RelayBudget;
  readonly since: number | null;
}

/** The full ones, from a row with these columns; none from a row without them. */
export function toFullRelays(row: Row): readonly FullRelays[] {
  return RELAY_BUDGETS.filter((kind) => row[`${columnOf(kind)}_full`] === 1).map((kind) => {
    const since = row[`${columnOf(kind)}_since`] ?? null;
    return { kind, since: since === null ? null : Number(since) };
  });
}

/** Their states as limits. */
export function relayStates(
  config: Platform['config'],
  full: readonly FullRelays[],
  { network, now }: { readonly network: string; readonly now: number },
): readonly LimitState[] {
  return full.map(({ kind, since }) => {
    const bucket = kind === 'relays-per-day' ? '' : network;
    return limitState(config, kind, { bucket, freesAt: since === null ? null : since + DAY_MS, now });
  });
}

function hasRoom(kind: RelayBudget): string {
  const room = fewerThan(maxOf(kind), countedOf(kind));
  return kind === 'relays-per-day' ? room : `(:relay_network = '' OR ${room})`;
}

function countedOf(kind: RelayBudget): string {
  const [own, key] = kind === 'relays-per-day' ? ['', `''`] : ['network = :relay_network AND ', ':relay_network'];
  return `FROM relays WHERE ${own}created_at > max(:day_ago, ${clearedAt(kind, key)}) AND ${RELAY_COUNTS}`;
}

function maxOf(kind: RelayBudget): string {
  return kind === 'relays-per-day' ? ':relay_daily_max' : ':relay_share_max';
}

function columnOf(kind: RelayBudget): string {
  return kind === 'relays-per-day' ? 'relay_day' : 'relay_network';
}
