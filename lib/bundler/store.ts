import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { argsIn, type Condition, fewerThan, type Row, type Statement, textOf, type Value } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';
import { clearedAt } from '../limits/limits.ts';

/**
 * A nonce of an account whose operation is sponsored. An EntryPoint executes at most one per sender (lower case) and
 * nonce (shortest 0x-hex).
 */
export interface SponsoredNonce {
  readonly sender: string;
  readonly nonce: string;
  readonly now: number;
}

/** A reservation for a nonce: the worst case in gwei, rounded up, and the prices in wei per unit of gas. */
export interface Reservation extends SponsoredNonce {
  readonly gwei: number;
  readonly maxFee: bigint;
  readonly tip: bigint;
  /** The network whose share of the day it uses; null for an account that is counted by itself. */
  readonly network: string | null;
}

/** A stored reservation. */
export interface Reserved {
  readonly gwei: number;
  readonly maxFee: bigint;
  readonly tip: bigint;
  readonly raises: number;
  /** The network whose share it used. */
  readonly network: string | null;
  /** Its cost is known: the nonce is spent. */
  readonly isSettled: boolean;
}

/** The most gwei of a rolling day: of all, of a network, of an account. */
export interface GweiBounds {
  readonly all: number;
  readonly network: number;
  readonly account: number;
}

/** The limits on the cost of a day's operations, each over the rows that count for it. */
const GWEI_LIMITS = [
  { kind: 'sponsor-wei', most: ':most_all', of: 'true', key: `''` },
  { kind: 'sponsor-wei-per-network', most: ':most_network', of: 'network = :network', key: ':network' },
  { kind: 'sponsor-wei-per-account', most: ':most_account', of: 'sender = :sender', key: ':sender' },
] as const;

/** One of them by its name. */
export type GweiLimit = (typeof GWEI_LIMITS)[number]['kind'];

const OF_NONCE = `sender = :sender AND nonce = :nonce AND sponsored_at > :day_ago`;
const IS_SPONSORED = `EXISTS (SELECT 1 FROM sponsorships WHERE ${OF_NONCE})`;
/** The gwei of the reservation above those that its nonce has already. */
const MORE = `max(0, :gwei - coalesce((SELECT gwei FROM sponsorships WHERE ${OF_NONCE}), 0))`;

function rowsOf({ kind, of, key }: (typeof GWEI_LIMITS)[number]): string {
  return `FROM sponsorships WHERE ${of} AND sponsored_at > max(:day_ago, ${clearedAt(kind, key)})`;
}

const HAS_GWEI = GWEI_LIMITS.map((limit) => `(${MORE} = 0 OR NOT ${isFull(limit)})`).join(' AND ');

/** A row of no network fills none. */
function isFull(limit: (typeof GWEI_LIMITS)[number]): string {
  const spent = `coalesce((SELECT sum(gwei) ${rowsOf(limit)}), 0) + ${MORE} > ${limit.most}`;
  return limit.key === ':network' ? `(:network IS NOT NULL AND ${spent})` : `(${spent})`;
}

function argsOf({ now, ...reservation }: Reservation, bounds: GweiBounds): Record<string, Value> {
  const { sender, nonce, gwei, maxFee, tip, network } = reservation;
  const most = { most_all: bounds.all, most_network: bounds.network, most_account: bounds.account };
  return { sender, nonce, gwei, max_fee: maxFee, max_tip: tip, network, now, day_ago: now - DAY_MS, ...most };
}

/**
 * Reserves a new nonce's worst case while its budgets have room, `room`, and its account was sponsored fewer than
 * `accountMax` times; `rowsAffected` 1 means that it is new.
 */
export function insertSponsorship(
  reservation: Reservation,
  bounds: GweiBounds,
  room: Condition,
  accountMax: number,
): Statement {
  const sql = `INSERT INTO sponsorships (sender, nonce, sponsored_at, network, gwei, max_fee, max_tip, next_look_at)
      SELECT :sender, :nonce, :now, :network, :gwei, :max_fee, :max_tip, :next_look_at
      WHERE NOT ${IS_SPONSORED} AND ${room.sql} AND ${fewerThan(':account_max', OF_ACCOUNT)} AND ${HAS_GWEI}
      ON CONFLICT (sender, nonce) DO UPDATE SET sponsored_at = excluded.sponsored_at, network = excluded.network,
        gwei = excluded.gwei, max_fee = excluded.max_fee, max_tip = excluded.max_tip, raises = 0, next_block = NULL,
        next_look_at = excluded.next_look_at`;
  const own = { account_max: accountMax, next_look_at: reservation.now + FIRST_LOOK_MS };
  return { sql, args: argsIn({ ...room.args, ...argsOf(reservation, bounds), ...own }, sql) };
}

/** A block is not final before. */
const FIRST_LOOK_MS = 60_000;

/**
 * Reserves for a nonce that is sponsored already, and more where it takes more; its day begins again, since its newest
 * signature may be used from now on. `raised` is the price that a raise above the market's bound is judged by, and the
 * most raises: the write checks both, and that the share is the one that the nonce takes.
 */
export function raiseSponsorship(
  reservation: Reservation,
  bounds: GweiBounds,
  raised: (Pick<Reserved, 'maxFee' | 'tip'> & { readonly max: number }) | undefined,
): Statement {
  const isAllowed = raised ? 'AND raises < :raises_max AND max_fee = :seen_fee AND max_tip = :seen_tip' : '';
  const sql = `UPDATE sponsorships SET sponsored_at = max(sponsored_at, :now), gwei = max(gwei, :gwei), max_fee = max(max_fee, :max_fee),
      max_tip = max(max_tip, :max_tip), raises = raises + ${raised ? 1 : 0}
    WHERE ${OF_NONCE} AND network IS :network AND next_look_at IS NOT NULL ${isAllowed} AND ${HAS_GWEI}`;
  const seen = raised ? { raises_max: raised.max, seen_fee: raised.maxFee, seen_tip: raised.tip } : {};
  return { sql, args: argsIn({ ...argsOf(reservation, bounds), ...seen }, sql) };
}

/** Whether the stored reservation of the nonce covers this one. */
export function selectIsCovered(reservation: Reservation): Statement {
  const { sender, nonce, gwei, maxFee, tip, now } = reservation;
  return {
    sql: `SELECT 1 FROM sponsorships WHERE ${OF_NONCE} AND next_look_at IS NOT NULL AND gwei >= :gwei
      AND max_fee >= :max_fee AND max_tip >= :max_tip`,
    args: { sender, nonce, gwei, max_fee: maxFee, max_tip: tip, day_ago: now - DAY_MS },
  };
}

/** The reservation of a nonce; no row if it was not sponsored in the last day. */
export function selectReserved({ sender, nonce, now }: SponsoredNonce): Statement {
  return {
    sql: `SELECT gwei, max_fee, max_tip, raises, network, next_look_at FROM sponsorships WHERE ${OF_NONCE}`,
    args: { sender, nonce, day_ago: now - DAY_MS },
  };
}

/** Reads a row of `selectReserved`. */
export function toReserved(row: Row): Reserved {
  return {
    gwei: Number(row['gwei']),
    maxFee: BigInt(Number(row['max_fee'])),
    tip: BigInt(Number(row['max_tip'])),
    raises: Number(row['raises']),
    network: textOf(row, 'network'),
    isSettled: row['next_look_at'] === null,
  };
}

const OF_ACCOUNT = `FROM sponsorships
  WHERE sender = :sender AND sponsored_at > max(:day_ago, ${clearedAt('sponsorships-per-account', ':sender')})`;

/**
 * When an account that was sponsored `accountMax` times is sponsored again: the time of the sponsorship that has to
 * leave the window. No row while it is below that; null for a maximum of 0.
 */
export function selectAccountFull({ sender, now }: SponsoredNonce, accountMax: number): Statement {
  return {
    sql: `SELECT (SELECT sponsored_at ${OF_ACCOUNT} AND :account_max > 0 ORDER BY sponsored_at DESC
      LIMIT 1 OFFSET max(:account_max - 1, 0)) AS since WHERE NOT ${fewerThan(':account_max', OF_ACCOUNT)}`,
    args: { sender, day_ago: now - DAY_MS, account_max: accountMax },
  };
}

/**
 * The limits of the day that have no room for the reservation: `kind`, and `since`, the time of the sponsorship that
 * has to leave the window, null where it is larger than the limit.
 */
export function selectGweiFull(reservation: Reservation, bounds: GweiBounds): Statement {
  const sql = GWEI_LIMITS.map((limit) => {
    const rows = rowsOf(limit);
    // Reservations in the order in which they leave the window, to find when the rest has room.
    const leaving = `SELECT sponsored_at, sum(gwei) OVER (ORDER BY sponsored_at) AS gone,
      sum(gwei) OVER () AS spent ${rows}`;
    return `SELECT '${limit.kind}' AS kind, (SELECT min(sponsored_at) FROM (${leaving})
      WHERE spent - gone + ${MORE} <= ${limit.most}) AS since WHERE ${MORE} > 0 AND ${isFull(limit)}`;
  }).join(' UNION ALL ');
  return { sql, args: argsIn(argsOf(reservation, bounds), sql) };
}

/** A nonce whose operation may be in a block by now. */
export interface OpenSponsorship extends Pick<SponsoredNonce, 'sender' | 'nonce'> {
  readonly sponsoredAt: number;
  readonly nextBlock: number | null;
}

/** The longest pause between two looks at a nonce. */
export const COST_PAUSE_MAX_MS = HOUR_MS;

/** The nonces that are due to be looked at. */
export const SPONSORSHIPS = dueQueue({ table: 'sponsorships', at: 'next_look_at', longest: COST_PAUSE_MAX_MS });

/** Those that wait longest. */
export function selectDueSponsorships(now: number, max: number): Statement {
  return SPONSORSHIPS.select('sender, nonce, sponsored_at, next_block', { now, limit: max });
}

/** Reads a row of `selectDueSponsorships`. */
export function toOpenSponsorship(row: Row): OpenSponsorship {
  return {
    sender: String(row['sender']),
    nonce: String(row['nonce']),
    sponsoredAt: Number(row['sponsored_at']),
    nextBlock: row['next_block'] === null ? null : Number(row['next_block']),
  };
}

const IS_OPEN = `sender = :sender AND nonce = :nonce AND sponsored_at = :sponsored_at AND next_look_at IS NOT NULL`;

function openArgs({ sender, nonce, sponsoredAt }: OpenSponsorship): Record<string, Value> {
  return { sender, nonce, sponsored_at: sponsoredAt };
}

/** Puts off the next look; `nextBlock` is where it continues. */
export function putOffLook(one: OpenSponsorship, nextBlock: number | null, nextLookAt: number): Statement {
  return {
    sql: `UPDATE sponsorships SET next_block = :next_block, next_look_at = :next_look_at WHERE ${IS_OPEN}`,
    args: { ...openArgs(one), next_block: nextBlock, next_look_at: nextLookAt },
  };
}

/** Replaces the reserved amount by the operation's cost. */
export function settleSponsorship(one: OpenSponsorship, gwei: number): Statement {
  return {
    sql: `UPDATE sponsorships SET gwei = :gwei, next_look_at = NULL WHERE ${IS_OPEN}`,
    args: { ...openArgs(one), gwei },
  };
}

/** Deletes sponsorships that have left the window. */
export function sweepSponsorships(now: number): Statement {
  return {
    sql: `DELETE FROM sponsorships WHERE (sender, nonce) IN
      (SELECT sender, nonce FROM sponsorships WHERE sponsored_at <= :day_ago LIMIT ${SWEEP_ROWS_MAX})`,
    args: { day_ago: now - DAY_MS },
  };
}
