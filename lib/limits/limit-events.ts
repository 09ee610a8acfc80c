import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { type LimitState, VaultError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { touch } from '../base/lru-cache.ts';
import { DEFAULT_APP, eventOf, maskClient, type NewEvent } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import type { LimitName } from './catalogue.ts';
import { maskKey } from './report.ts';
import { takeNotice } from './store.ts';

/** Buckets whose refusal is remembered as told. */
const LIMIT_NOTICES_CACHED_MAX = 10_000;

type Services = Pick<Platform, 'clock' | 'db' | 'log'> & { readonly notices: Notices };

/** Until when a process knows a bucket's refusals to be told of: a flood of them then costs no writes. */
export type Notices = Map<string, number>;

/** Tells of a limit's refusal, at most once per bucket and window over all processes. Nobody waits for it; other failures tell nothing. */
export function noteRefusal(vault: Services, app: string, failure: unknown): void {
  const limit = failure instanceof VaultError ? failure.details.limit : undefined;
  if (limit) noteLimit(vault, app, limit);
}

/** The same, for a limit that refuses without an error. */
export function noteLimit(vault: Services, app: string, { name, limit, windowSeconds, bucket = '' }: LimitState): void {
  // A limit without a window (a country that gets no SMS) is told of once a day.
  const windowMs = windowSeconds > 0 ? windowSeconds * 1000 : DAY_MS;
  const data = {
    limit: name,
    max: limit,
    window_seconds: windowSeconds,
    bucket: maskKey(name as LimitName, bucket) || null,
  };
  const told = eventOf('limit.reached', { app, at: vault.clock.now() }, data);
  note(vault, `${name} ${bucket}`, windowMs, told);
}

/** Tells that an operator route was asked without the right secret, at most once per client and minute. */
export function noteIntruder(vault: Services, client: string): void {
  const told = eventOf('operator.refused', { app: DEFAULT_APP, at: vault.clock.now() }, { client: maskClient(client) });
  note(vault, `operator ${client}`, MINUTE_MS, told);
}

function note({ db, log, notices }: Services, bucket: string, windowMs: number, event: NewEvent): void {
  const now = event.at;
  if ((notices.get(bucket) ?? 0) > now) return;
  // The longest silent is forgotten first; the database still knows it.
  touch(notices, bucket, now + windowMs, LIMIT_NOTICES_CACHED_MAX);
  db.write(takeNotice(bucket, now + windowMs, now), emitEvent(event, { ifChanged: true })).catch((error) => {
    notices.delete(bucket);
    log({ level: 'warn', event: 'notice_failed', ...describeError(error) });
  });
}
