import { DAY_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Value } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { FORGETTINGS, type Forgotten, forgetStep, selectForgettingEnd } from './retention-store.ts';

type Ctx = Pick<Platform, 'config' | 'clock' | 'db'>;

/**
 * Deletes old data as the settings say, once a day: each turn is a step of `SWEEP_ROWS_MAX` rows of one table. True
 * while more is to do. A process that dies begins again; deleted rows stay deleted.
 */
export function createRetention(): (ctx: Ctx) => Promise<boolean> {
  let dueAt = 0;
  let place: { readonly kind: Forgotten; readonly after: Value } | undefined;
  return async (ctx) => {
    const now = ctx.clock.monotonic();
    if (place === undefined && now < dueAt) return false;
    const kinds = kindsOf(ctx.config);
    place ??= beginningOf(kinds[0]);
    if (place === undefined) return false;
    const { kind, after } = place;
    const [end] = await ctx.db.read(selectForgettingEnd(kind, after, SWEEP_ROWS_MAX));
    const last = end?.['last'] as Value | undefined;
    await ctx.db.write(forgetStep(kind, ctx.clock.now() - daysOf(ctx.config, kind) * DAY_MS, after, last));
    place = last === undefined ? beginningOf(kinds[kinds.indexOf(kind) + 1]) : { kind, after: last };
    if (place === undefined) dueAt = now + DAY_MS;
    return place !== undefined;
  };
}

function beginningOf(kind: Forgotten | undefined) {
  return kind && { kind, after: FORGETTINGS[kind].key === 'id' ? 0 : '' };
}

function kindsOf(config: Ctx['config']): readonly Forgotten[] {
  return (Object.keys(FORGETTINGS) as Forgotten[]).filter((kind) => daysOf(config, kind) > 0);
}

/** Nobody asks about a registration that failed a month ago, and it holds an address. */
const FAILED_REGISTRATIONS_KEEP_DAYS = 30;

/** 0 is for good. Rows that a limit counts stay as long as it counts them. */
function daysOf(config: Ctx['config'], kind: Forgotten): number {
  const { keepVerificationsDays, keepIpsDays } = config;
  const { registrationsPerIpWindowSeconds: window } = config;
  if (kind === 'verifications') return keepVerificationsDays;
  if (kind === 'failedRegistrations') return FAILED_REGISTRATIONS_KEEP_DAYS;
  if (kind === 'networksOfRelays' || keepIpsDays === 0) return keepIpsDays;
  return window === 0 ? 0 : Math.max(keepIpsDays, (window * 1000) / DAY_MS);
}
