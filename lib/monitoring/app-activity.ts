import { DAY_MS, isoTime } from '../base/clock.ts';
import { OF_APP, type ReadCtx, readMinutes } from './minutes.ts';

/** Refused sign-ins of one reason. */
export interface AppRefusals {
  /** Where: at the app's link, at the page, or at `/token`. */
  readonly stage: string;
  readonly reason: string;
  readonly count: number;
}

/** What an app's people did in the last day, by all processes. Nothing in it names a person. */
export interface AppActivity {
  readonly issued: number;
  readonly exchanged: number;
  /** The end of the last minute with an exchange, ISO 8601; null without one. */
  readonly lastAt: string | null;
  /** The most frequent first. */
  readonly refusals: readonly AppRefusals[];
}

/** What each app's people did in the last day, by `client_id`; a quiet one is absent. */
export async function readAppActivity(ctx: ReadCtx): Promise<{
  readonly since: string;
  readonly apps: ReadonlyMap<string, AppActivity>;
}> {
  const now = ctx.clock.now();
  const sums = new Map<string, { at: number; readonly counts: Map<string, number> }>();
  for (const { at, counts } of await readMinutes(ctx, now - DAY_MS, now))
    for (const [key, count] of Object.entries(counts)) {
      if (!key.startsWith(OF_APP)) continue;
      const [app = '', what = ''] = key.slice(OF_APP.length).split(/ (.*)/);
      const one = sums.get(app) ?? { at: 0, counts: new Map<string, number>() };
      sums.set(app, one);
      one.counts.set(what, (one.counts.get(what) ?? 0) + count);
      if (what === 'exchanged') one.at = Math.max(one.at, at);
    }
  const apps = new Map(Array.from(sums, ([app, { at, counts }]) => [app, activityOf(at, counts)] as const));
  return { since: isoTime(now - DAY_MS), apps };
}

/** An app whose people did nothing. */
export const QUIET: AppActivity = { issued: 0, exchanged: 0, lastAt: null, refusals: [] };

function activityOf(at: number, counts: ReadonlyMap<string, number>): AppActivity {
  const refusals = [...counts].flatMap(([what, count]) => {
    const [, stage, reason] = /^refused (\S+) (.*)/.exec(what) ?? [];
    return stage === undefined || reason === undefined ? [] : [{ stage, reason, count }];
  });
  return {
    issued: counts.get('issued') ?? 0,
    exchanged: counts.get('exchanged') ?? 0,
    lastAt: at === 0 ? null : isoTime(at),
    refusals: refusals.toSorted((a, b) => b.count - a.count),
  };
}
