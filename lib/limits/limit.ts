import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import type { ErrorCode } from '../base/error.ts';
import type { Config } from '../config/config.ts';
import { KEEP_SENDS_MAX, PASS_SENDS_MAX, PASS_SENDS_PER_IP_MAX } from '../constants.ts';

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
  /** Which of the table's rows the index of its keys has, unless it has all. */
  readonly indexed?: string;
  /** The column with the uses of a row, where one row holds several. */
  readonly uses?: string;
}

/** One limit, as its 429, its report, its clearing, its events and docs/operating.md describe it. */
export type Limit = Scope & LimitParts;

/**
 * The key by which a limit counts: a client (IPv4 address or IPv6 /64), a network (IPv4 address or IPv6 /48), an
 * identifier, an account's address, an app, or the whole vault. For the whole vault `share` names the limit of one
 * network's part, or `unshared` says why there is none.
 */
type Scope =
  | { readonly bucket: 'client' | 'network' | 'identifier' | 'account' | 'app' }
  | { readonly bucket: 'vault'; readonly share: string }
  | { readonly bucket: 'vault'; readonly unshared: string };

interface LimitParts {
  /** Completes "at most N …". */
  readonly counts: string;
  readonly max: number | NumberSetting | PartOfSetting | GweiOfSetting;
  readonly windowSeconds: number | NumberSetting;
  /** The word of its refusals; null where the answer is not an error. */
  readonly error: ErrorCode | null;
  /** Where it is stored, and so shown and cleared; each process counts the others in memory. */
  readonly stored?: CountedRows | 'wrong guesses';
}

/** A multiple of a setting's value, or a network's share of the whole vault's limit. */
export type PartOfSetting =
  | { readonly of: NumberSetting; readonly times: number }
  | { readonly of: NumberSetting | number | GweiOfSetting; readonly share: true; readonly atLeast?: WeiSetting };

/** A network's least share of a whole vault's limit; of gwei that many times `atLeast`. */
export const SHARE_MIN = 3;

/** The gwei of a setting in wei, rounded down. */
export interface GweiOfSetting {
  readonly gweiOf: WeiSetting;
}

/** A setting whose value is a number. */
export type NumberSetting = { [Name in keyof Config]: Config[Name] extends number ? Name : never }[keyof Config];

/** A setting whose value is wei. */
export type WeiSetting = { [Name in keyof Config]: Config[Name] extends bigint ? Name : never }[keyof Config];

const [HOUR, DAY] = [HOUR_MS / 1000, DAY_MS / 1000];

/** Of the outbox, registrations count; one that failed before it had a nonce has cost nothing. */
export const RELAY_COUNTS = `kind = 'registration' AND NOT (status = 'failed' AND nonce IS NULL)`;
const RELAY_INDEXED = `NOT (status = 'failed' AND nonce IS NULL)`;

/** The SMS sent to one number. */
export const SMS_OF_NUMBER = {
  table: 'codes',
  at: 'sent_at',
  key: 'identifier',
  where: `channel = 'sms' AND (by_pass IS NULL OR by_pass > 0)`,
} as const;

/** The rows of `budget_uses` of one limit. */
export function usesOf(name: string) {
  const indexed = `kind = '${name}'`;
  const where = `${indexed} AND used > 0`;
  return { table: 'budget_uses', at: 'slot', key: 'bucket', where, indexed, uses: 'used' } as const;
}

/** The limit of the whole vault in a rolling day. */
export function dayOf(name: string, counts: string, max: NumberSetting, error: ErrorCode) {
  return { counts, max, windowSeconds: DAY, ...sharedBy(name), error, stored: usesOf(name) } as const;
}

/** The scope of a limit of the whole vault: `mails-per-day` is shared by `mails-per-network`. */
function sharedBy(name: string) {
  return { bucket: 'vault', share: name.replace(/-day$/, '-network') } as const;
}

/** The limit of one network's share of it. */
export function shareOf(name: string, counts: string, of: NumberSetting, error: ErrorCode) {
  const max = { of, share: true } as const;
  return { counts, max, windowSeconds: DAY, bucket: 'network', error, stored: usesOf(name) } as const;
}

/** The limits of codes that a pass lets through, or the passkey of a claimed address's holder. */
export const PASSED_SENDS = {
  'pass-sends-per-ip': {
    counts: 'codes sent with a pass',
    max: PASS_SENDS_PER_IP_MAX,
    windowSeconds: DAY,
    bucket: 'client',
    error: 'rate_limited',
    stored: { table: 'codes', at: 'sent_at', key: 'ip', where: 'by_pass > 0' },
  },
  'pass-sends-per-identifier': {
    counts: 'codes sent with a pass',
    max: PASS_SENDS_MAX,
    windowSeconds: HOUR,
    bucket: 'identifier',
    error: 'rate_limited',
    stored: { table: 'codes', at: 'sent_at', key: 'identifier', where: 'by_pass > 0' },
  },
  'keep-sends-per-identifier': {
    counts: "codes sent to an address that another DID claims, by its holder's passkey",
    max: KEEP_SENDS_MAX,
    windowSeconds: HOUR,
    bucket: 'identifier',
    error: 'rate_limited',
    stored: { table: 'codes', at: 'sent_at', key: 'identifier', where: 'by_pass = -1' },
  },
} as const;

/** The limits of registrations made on-chain for others. */
export const RELAY_LIMITS = {
  'relays-per-day': {
    counts: 'DIDs registered for others',
    max: 'relayDailyMax',
    windowSeconds: DAY,
    ...sharedBy('relays-per-day'),
    error: 'relay_limit_reached',
    stored: { table: 'relays', at: 'created_at', where: RELAY_COUNTS },
  },
  'relays-per-network': {
    counts: 'DIDs registered for others',
    max: { of: 'relayDailyMax', share: true },
    windowSeconds: DAY,
    bucket: 'network',
    error: 'relay_limit_reached',
    stored: { table: 'relays', at: 'created_at', key: 'network', where: RELAY_COUNTS, indexed: RELAY_INDEXED },
  },
} as const;

/** A person at a shop or a game makes fewer; a script that empties the deposit makes more. */
export const SPONSORED_PER_ACCOUNT_MAX = 20;

/** The share and the rows of the limits on the cost of sponsored operations. */
const GWEI_SHARE = { of: { gweiOf: 'sponsorDailyWei' }, share: true, atLeast: 'sponsorMaxFee' } as const;
const GWEI = { table: 'sponsorships', at: 'sponsored_at', uses: 'gwei' } as const;

/** The limits of user operations that the paymaster pays for. */
export const SPONSOR_LIMITS = {
  'sponsorships-per-day': dayOf(
    'sponsorships-per-day',
    'user operations sponsored',
    'sponsorDailyMax',
    'sponsor_limit_reached',
  ),
  'sponsorships-per-network': shareOf(
    'sponsorships-per-network',
    'user operations sponsored',
    'sponsorDailyMax',
    'sponsor_limit_reached',
  ),
  'sponsorships-per-account': {
    counts: 'user operations of one account sponsored',
    max: SPONSORED_PER_ACCOUNT_MAX,
    windowSeconds: DAY,
    bucket: 'account',
    error: 'sponsor_limit_reached',
    stored: { table: 'sponsorships', at: 'sponsored_at', key: 'sender' },
  },
  'sponsor-wei': {
    counts: 'of gas, in gwei, for user operations sponsored',
    max: { gweiOf: 'sponsorDailyWei' },
    windowSeconds: DAY,
    bucket: 'vault',
    share: 'sponsor-wei-per-network',
    error: 'sponsor_limit_reached',
    stored: GWEI,
  },
  'sponsor-wei-per-network': {
    counts: 'of gas, in gwei, for user operations sponsored',
    max: GWEI_SHARE,
    windowSeconds: DAY,
    bucket: 'network',
    error: 'sponsor_limit_reached',
    stored: { ...GWEI, key: 'network', where: 'network IS NOT NULL', indexed: 'network IS NOT NULL' },
  },
  'sponsor-wei-per-account': {
    counts: 'of gas, in gwei, for user operations of one account sponsored',
    max: GWEI_SHARE,
    windowSeconds: DAY,
    bucket: 'account',
    error: 'sponsor_limit_reached',
    stored: { ...GWEI, key: 'sender' },
  },
} as const;
