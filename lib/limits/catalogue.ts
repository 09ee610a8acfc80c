import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import type { ErrorCode } from '../base/error.ts';
import type { Config } from '../config/config.ts';
import { PASS_SENDS_MAX, SMS_CODE_EXPIRY_SECONDS, WRONG_GUESSES_MAX } from '../constants.ts';

/**
 * The stored rows that a limit counts: each has a time, and the key of its bucket unless the bucket is the whole vault.
 */
export interface CountedRows {
  readonly table: string;
  readonly at: string;
  readonly key?: string;
  /** Which of its rows count, besides that their time is in the window. */
  readonly where?: string;
  /**
   * Which rows count, where not only their time says so; `:since` is now, `:from` the beginning of the window. Such a
   * row may count for good: then the window is 0.
   */
  readonly while?: string;
  /** When such a row counts no more; `:window` is the window in milliseconds, null for good. */
  readonly ends?: string;
}

/** One limit, as its 429, its report, its clearing, its events and docs/operating.md describe it. */
export interface Limit {
  /** Completes "at most N …". */
  readonly counts: string;
  /** A number, or the setting that holds it. */
  readonly max: number | NumberSetting;
  readonly windowSeconds: number | NumberSetting;
  /** What it counts by: a client (IPv4 address or IPv6 /64), an identifier, or nothing, for the whole vault. */
  readonly bucket: 'client' | 'identifier' | 'vault';
  /** The word of its refusals; null where the answer is no error. */
  readonly error: ErrorCode | null;
  /** Where it is stored, and so shown and cleared; each process counts the others in memory. */
  readonly stored?: CountedRows | 'wrong guesses';
}

/** A setting whose value is a number. */
type NumberSetting = { [Name in keyof Config]: Config[Name] extends number ? Name : never }[keyof Config];

const [MINUTE, HOUR, DAY] = [MINUTE_MS / 1000, HOUR_MS / 1000, DAY_MS / 1000];

/** Every limit, by the name it refuses under; the stored ones in the order of the report. */
export const LIMITS = {
  'sends-per-ip': {
    counts: 'codes sent without a pass',
    max: 'maxVerifySendsPerIp',
    windowSeconds: DAY,
    bucket: 'client',
    error: 'rate_limited',
    stored: { table: 'codes', at: 'sent_at', key: 'ip', where: 'by_pass IS NULL' },
  },
  'sends-per-identifier': {
    counts: 'codes mailed without a pass',
    max: 'rateLimitCodesPerIdentifier',
    windowSeconds: HOUR,
    bucket: 'identifier',
    error: 'rate_limited',
    stored: { table: 'codes', at: 'sent_at', key: 'identifier', where: `channel = 'email' AND by_pass IS NULL` },
  },
  'pass-sends-per-identifier': {
    counts: 'codes sent with a pass',
    max: PASS_SENDS_MAX,
    windowSeconds: HOUR,
    bucket: 'identifier',
    error: 'rate_limited',
    stored: { table: 'codes', at: 'sent_at', key: 'identifier', where: 'by_pass IS NOT NULL' },
  },
  'sms-per-day': {
    counts: 'SMS sent',
    max: 'smsDailyMax',
    windowSeconds: DAY,
    bucket: 'vault',
    error: 'rate_limited',
    stored: { table: 'codes', at: 'sent_at', where: `channel = 'sms'` },
  },
  'guesses-per-identifier': {
    counts: 'wrong codes in a row, then codes need a pass',
    max: WRONG_GUESSES_MAX,
    windowSeconds: 0,
    bucket: 'identifier',
    error: null,
    stored: 'wrong guesses',
  },
  'registrations-per-ip': {
    counts: 'sessions that have not lapsed',
    max: 'maxRegistrationsPerIp',
    windowSeconds: 'registrationsPerIpWindowSeconds',
    bucket: 'client',
    error: 'ip_limit_reached',
    stored: {
      table: 'sessions',
      at: 'created_at',
      key: 'ip',
      while: 'counts = 1 AND created_at > :from AND (linked = 1 OR expires_at > :since)',
      ends: 'CASE linked WHEN 1 THEN created_at + :window ELSE coalesce(min(expires_at, created_at + :window), expires_at) END',
    },
  },
  'relays-per-day': {
    counts: 'DIDs registered for others',
    max: 'relayDailyMax',
    windowSeconds: DAY,
    bucket: 'vault',
    error: 'relay_limit_reached',
    stored: { table: 'relays', at: 'created_at', where: `NOT (status = 'failed' AND nonce IS NULL)` },
  },
  'sponsorships-per-day': {
    counts: 'user operations sponsored',
    max: 'sponsorDailyMax',
    windowSeconds: DAY,
    bucket: 'vault',
    error: 'sponsor_limit_reached',
    stored: { table: 'sponsorships', at: 'sponsored_at' },
  },
  'sms-countries': {
    counts: 'SMS to a country that is not in `SMS_COUNTRIES`',
    max: 0,
    windowSeconds: 0,
    bucket: 'vault',
    error: 'rate_limited',
  },
  'sms-provider': {
    counts: "SMS to one number, the provider's own limit",
    max: 5,
    windowSeconds: SMS_CODE_EXPIRY_SECONDS,
    bucket: 'identifier',
    error: 'rate_limited',
  },
  'writes-per-ip': {
    counts: 'requests for a session, a code or a DID',
    max: 'rateLimitWritesPerIp',
    windowSeconds: MINUTE,
    bucket: 'client',
    error: 'rate_limited',
  },
  'reads-per-ip': {
    counts: 'checks and look-ups',
    max: 'rateLimitReadsPerIp',
    windowSeconds: MINUTE,
    bucket: 'client',
    error: 'rate_limited',
  },
  'proxy-per-ip': {
    counts: 'requests that cost an upstream call',
    max: 'rateLimitProxyPerIp',
    windowSeconds: MINUTE,
    bucket: 'client',
    error: 'rate_limited',
  },
  'operator-failures-per-ip': {
    counts: 'wrong operator secrets',
    max: 10,
    windowSeconds: MINUTE,
    bucket: 'client',
    error: 'rate_limited',
  },
} as const satisfies Readonly<Record<string, Limit>>;

/** A limit's name. */
export type LimitName = keyof typeof LIMITS;

/** The limits that are stored; the others are each process's own, and over in a minute. */
export type StoredLimit = {
  [Name in LimitName]: (typeof LIMITS)[Name] extends { stored: unknown } ? Name : never;
}[LimitName];

/** The stored limits that count rows with a time. */
export type CountedLimit = {
  [Name in LimitName]: (typeof LIMITS)[Name] extends { stored: CountedRows } ? Name : never;
}[LimitName];

/** The names of the stored limits, in the order of the report. */
export const STORED_LIMITS = Object.entries<Limit>(LIMITS).flatMap(([name, { stored }]) =>
  stored === undefined ? [] : [name as StoredLimit],
);

/** A limit by its name. */
export function limitOf(name: LimitName): Limit {
  return LIMITS[name];
}

/** How much a limit allows under these settings, and in how many seconds. */
export function boundsOf(config: Pick<Config, NumberSetting>, name: LimitName): { max: number; windowSeconds: number } {
  const { max, windowSeconds } = limitOf(name);
  const value = (bound: number | NumberSetting) => (typeof bound === 'number' ? bound : config[bound]);
  return { max: value(max), windowSeconds: value(windowSeconds) };
}
