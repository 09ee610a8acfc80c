import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import type { Config } from '../config/config.ts';
import { SMS_CODE_EXPIRY_SECONDS, WRONG_GUESSES_MAX } from '../constants.ts';
import { inGwei, wholeGwei } from './gwei.ts';
import {
  type CountedRows,
  dayOf,
  type GweiOfSetting,
  type Limit,
  type NumberSetting,
  PASSED_SENDS,
  type PartOfSetting,
  RELAY_LIMITS,
  SHARE_MIN,
  SMS_OF_NUMBER,
  SPONSOR_LIMITS,
  shareOf,
  usesOf,
  type WeiSetting,
} from './limit.ts';
import { REQUEST_LIMITS } from './request-limits.ts';

const [HOUR, DAY] = [HOUR_MS / 1000, DAY_MS / 1000];

/** A /48 is 65,536 clients; it sends to strangers, and opens sessions, as much as this many. */
const CLIENTS_PER_NETWORK = 256;

/** Links for a key on another device, of one client and of all in an hour. */
const JOINS_PER_IP_MAX = 30;
const JOINS_MAX = 10_000;

/** Credentials of an address in a day. */
const CREDENTIALS_MAX = 20;

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
  ...PASSED_SENDS,
  'sends-per-number': {
    counts: 'SMS sent; two fifths are kept for sends with a pass',
    max: 'rateLimitCodesPerNumber',
    windowSeconds: HOUR,
    bucket: 'identifier',
    error: 'rate_limited',
    stored: SMS_OF_NUMBER,
  },
  'sends-per-number-day': {
    counts: 'SMS sent; two fifths are kept for sends with a pass',
    max: { of: 'rateLimitCodesPerNumber', times: 2 },
    windowSeconds: DAY,
    bucket: 'identifier',
    error: 'rate_limited',
    stored: SMS_OF_NUMBER,
  },
  'strangers-per-network': {
    counts: 'codes sent for a /48, without a pass, to addresses that never verified',
    max: { of: 'maxVerifySendsPerIp', times: CLIENTS_PER_NETWORK },
    windowSeconds: DAY,
    bucket: 'network',
    error: 'rate_limited',
    stored: usesOf('strangers-per-network'),
  },
  'emails-per-day': dayOf('emails-per-day', 'codes mailed', 'emailDailyMax', 'rate_limited'),
  'emails-per-network': shareOf('emails-per-network', 'codes mailed', 'emailDailyMax', 'rate_limited'),
  'sms-per-day': dayOf('sms-per-day', 'SMS sent', 'smsDailyMax', 'rate_limited'),
  'sms-per-network': shareOf('sms-per-network', 'SMS sent', 'smsDailyMax', 'rate_limited'),
  'guesses-per-identifier': {
    counts: 'wrong codes in a row, then codes need a pass; forgotten after a day without one',
    max: WRONG_GUESSES_MAX,
    windowSeconds: DAY,
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
      indexed: 'counts = 1',
      while: 'counts = 1 AND created_at > :from AND (linked = 1 OR expires_at > :since)',
      ends: 'CASE linked WHEN 1 THEN created_at + :window ELSE coalesce(min(expires_at, created_at + :window), expires_at) END',
    },
  },
  'sessions-per-network': {
    counts: 'sessions opened for a /48, without an attestation',
    max: { of: 'maxRegistrationsPerIp', times: CLIENTS_PER_NETWORK },
    windowSeconds: DAY,
    bucket: 'network',
    error: 'ip_limit_reached',
    stored: usesOf('sessions-per-network'),
  },
  ...RELAY_LIMITS,
  'recoveries-per-day': dayOf(
    'recoveries-per-day',
    'recoveries started',
    'recoveriesDailyMax',
    'recovery_limit_reached',
  ),
  'recoveries-per-network': shareOf(
    'recoveries-per-network',
    'recoveries started',
    'recoveriesDailyMax',
    'recovery_limit_reached',
  ),
  ...SPONSOR_LIMITS,
  'joins-per-ip': {
    counts: 'links for a key on another device',
    max: JOINS_PER_IP_MAX,
    windowSeconds: HOUR,
    bucket: 'client',
    error: 'rate_limited',
    stored: { table: 'joins', at: 'opened_at', key: 'ip' },
  },
  'joins-per-hour': {
    counts: 'links for a key on another device',
    max: JOINS_MAX,
    windowSeconds: HOUR,
    bucket: 'vault',
    share: 'joins-per-network',
    error: 'rate_limited',
    stored: { table: 'joins', at: 'opened_at' },
  },
  'joins-per-network': {
    counts: 'links of a /48 for a key on another device',
    max: { of: JOINS_MAX, share: true },
    windowSeconds: HOUR,
    bucket: 'network',
    error: 'rate_limited',
    stored: { table: 'joins', at: 'opened_at', key: 'network', indexed: 'network IS NOT NULL' },
  },
  'credentials-per-identifier': {
    counts: 'credentials of an address; a quarter is kept for its passkey',
    max: CREDENTIALS_MAX,
    windowSeconds: DAY,
    bucket: 'identifier',
    error: 'rate_limited',
    stored: usesOf('credentials-per-identifier'),
  },
  'test-messages': {
    counts: "operator's test messages sent from the console",
    max: 20,
    windowSeconds: DAY,
    bucket: 'vault',
    unshared: 'only the operator sends them',
    error: 'rate_limited',
    stored: usesOf('test-messages'),
  },
  'sms-countries': {
    counts: 'SMS to a country that is not in `SMS_COUNTRIES`',
    max: 0,
    windowSeconds: 0,
    bucket: 'vault',
    unshared: 'nobody has any',
    error: 'rate_limited',
  },
  'sms-provider': {
    counts: "SMS to one number, the provider's own limit",
    max: 5,
    windowSeconds: SMS_CODE_EXPIRY_SECONDS,
    bucket: 'identifier',
    error: 'rate_limited',
  },
  ...REQUEST_LIMITS,
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

/** The limits whose uses are counted in `budget_uses`. */
export type BudgetLimit = {
  [Name in LimitName]: (typeof LIMITS)[Name] extends { stored: { uses: 'used' } } ? Name : never;
}[LimitName];

/** The daily budgets of the whole vault. */
export const BUDGETS = [
  'emails-per-day',
  'sms-per-day',
  'relays-per-day',
  'recoveries-per-day',
  'sponsorships-per-day',
  'sponsor-wei',
] as const;

/** The names of the stored limits, in the order of the report. */
export const STORED_LIMITS = Object.entries<Limit>(LIMITS).flatMap(([name, { stored }]) =>
  stored === undefined ? [] : [name as StoredLimit],
);

/** A limit by its name. */
export function limitOf(name: LimitName): Limit {
  return LIMITS[name];
}

/** How much a limit allows under these settings, and in how many seconds. */
export function boundsOf(config: Bounding, name: LimitName): { max: number; windowSeconds: number } {
  const { max, windowSeconds } = limitOf(name);
  const value = (bound: number | NumberSetting) => (typeof bound === 'number' ? bound : config[bound]);
  return { max: typeof max === 'object' ? partOf(config, max) : value(max), windowSeconds: value(windowSeconds) };
}

type Bounding = Pick<Config, NumberSetting | WeiSetting>;

function partOf(config: Bounding, part: PartOfSetting | GweiOfSetting): number {
  if ('gweiOf' in part) return wholeGwei(config[part.gweiOf]);
  const { of } = part;
  const whole = typeof of === 'number' ? of : typeof of === 'object' ? partOf(config, of) : config[of];
  if ('times' in part) return whole * part.times;
  const least = part.atLeast === undefined ? 1 : inGwei(config[part.atLeast]);
  return Math.max(SHARE_MIN * least, Math.floor((whole * config.networkSharePercent) / 100));
}
