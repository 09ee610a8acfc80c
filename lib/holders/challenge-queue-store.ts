import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { KNOWN_TIME } from '../db/clocks.ts';
import type { Condition, Statement } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';
import { type EventRows, emitEvents } from '../events/emit.ts';
import { FIRST_NOTICES, queueFirstNotices, queueSoonNotices, type Reach } from './challenge-notice-store.ts';
import {
  CHALLENGE_DATA,
  CHALLENGE_KEPT_MS,
  type ChallengeEnd,
  type Challenger,
  endChallenge,
  HOLDER,
  HOLDERS_APP,
  isSlow,
  loseAddress,
  MAY_TAKE,
  REPLACED_UNTIL,
  STANDING,
  WAITS,
} from './challenge-store.ts';

// The challenges of addresses, from their beginning to their end (docs/decisions/0043).

/** The challenges that are due: first to be judged, then for their first notices, then to move. */
export const CHALLENGES = dueQueue({ table: 'challenges', at: 'due_at', longest: 31 * DAY_MS });

/** A time without any vault's background work: a holder could not have kept an address then, so no wait continues. */
const AWAY_MS = 6 * HOUR_MS;
const WAS_AWAY = `coalesce(:now - ${KNOWN_TIME} >= ${AWAY_MS}, 0)`;

/**
 * One row if a claim waits, or a challenge or its notice is due; none until `resumeWaits`, where no vault was there.
 * Cheap for an idle vault.
 */
export function selectAnyMove(now: number): Statement {
  return {
    sql: `SELECT 1 WHERE NOT ${WAS_AWAY} AND (EXISTS (SELECT 1 FROM registrations WHERE waits = ${WAITS})
      OR EXISTS (SELECT 1 FROM challenges WHERE due_at <= :now)
      OR EXISTS (SELECT 1 FROM challenge_notices WHERE due_at <= :now))`,
    args: { now },
  };
}

/**
 * Lets waits that were not over go on where they stood when the last vault stopped; also of a restored backup. Before
 * `noteTime`, in its batch.
 */
export function resumeWaits(now: number): readonly Statement[] {
  const later = `+ (:now - ${KNOWN_TIME})`;
  return [
    {
      sql: `UPDATE challenge_notices SET due_at = due_at ${later}
        WHERE due_at IS NOT NULL AND kind = 'soon' AND due_at > ${KNOWN_TIME} AND ${WAS_AWAY}`,
      args: { now },
    },
    {
      sql: `UPDATE challenges SET moves_at = moves_at ${later}
        WHERE due_at IS NOT NULL AND moves_at > ${KNOWN_TIME} AND ${WAS_AWAY}`,
      args: { now },
    },
  ];
}

/**
 * Claims that wait for an address without a standing challenge of their own; erased ones are left out. The newest comes
 * first: of two that become final in one turn the later one should wait, and opening a challenge sends the others away.
 */
export function selectUnopened(limit: number): Statement {
  return {
    sql: `SELECT identifier, did FROM registrations WHERE waits = ${WAITS} AND identifier NOT LIKE '%@erased'
      AND NOT EXISTS (SELECT 1 FROM challenges WHERE challenges.identifier = registrations.identifier
        AND challenges.did = registrations.did AND ended_at IS NULL)
      GROUP BY identifier, did ORDER BY max(id) DESC LIMIT :limit`,
    args: { limit },
  };
}

/** The claims of the DID that wait for the address. */
const OWN = `identifier = :identifier AND did = :did AND waits = ${WAITS}`;
const WAITING = `EXISTS (SELECT 1 FROM registrations WHERE ${OWN})`;
const OTHERS = `identifier = :identifier AND did <> :did AND waits = ${WAITS}`;

/**
 * Opens the challenge of a DID whose claims wait, and replaces an older one that stands. Where that has happened too
 * often, or the one that stands is newer, the claim goes without the address.
 */
export function openChallenge({ identifier, did }: Challenger, now: number): readonly Statement[] {
  const args = { identifier, did, now };
  const isLate = `EXISTS (SELECT 1 FROM challenges WHERE ${STANDING} AND did <> :did)
    AND (SELECT max(id) FROM registrations WHERE ${OTHERS})
      > (SELECT max(id) FROM registrations WHERE ${OWN})`;
  const isFull = `coalesce(${REPLACED_UNTIL}, 0) > :now`;
  return [
    ...loseAddress(`${OWN} AND ${isLate}`, 'replaced', args),
    ...loseAddress(`${OWN} AND ${isFull}`, 'identifier_taken', args),
    ...loseAddress(`${OTHERS} AND ${WAITING}`, 'replaced', args),
    ...endChallenge({ sql: `${STANDING} AND did <> :did AND ${WAITING}`, args }, 'replaced', now),
    {
      sql: `INSERT INTO challenges (identifier, did, opened_at, due_at) SELECT :identifier, :did, :now, :now
        WHERE ${WAITING} ON CONFLICT DO NOTHING`,
      args,
    },
  ];
}

/** A standing challenge, with the address's holder and the newest claim that waits; null where there is none. */
export function selectChallenge(id: number): Statement {
  return {
    sql: `SELECT challenges.*, ${FIRST_NOTICES}, ${HOLDER}, ${isSlow('holder')} AS is_slow,
        holder.waits = ${MAY_TAKE} AS has_taken, claim.id AS claim_id, claim.controller AS claim_controller,
        claim.proof_key AS claim_key
      FROM challenges LEFT JOIN registrations AS holder ON holder.identifier = challenges.identifier AND holder.holds = 1
      LEFT JOIN registrations AS claim ON claim.id = (SELECT max(id) FROM registrations AS mine
        WHERE mine.identifier = challenges.identifier AND mine.did = challenges.did AND mine.waits = ${WAITS})
      WHERE challenges.id = :id AND ended_at IS NULL`,
    args: { id },
  };
}

/** Makes the challenges of these identifiers due of which no claim waits any more. */
export function recallChallenges(named: Condition, now: number): Statement {
  return {
    sql: `UPDATE challenges SET due_at = :now WHERE ended_at IS NULL AND due_at > :now AND ${named.sql}
      AND NOT EXISTS (SELECT 1 FROM registrations WHERE registrations.identifier = challenges.identifier
        AND registrations.did = challenges.did AND waits = ${WAITS})`,
    args: { ...named.args, now },
  };
}

/** A leased challenge. A holder whose lease lapsed changes nothing. */
export interface LeasedChallenge {
  readonly id: number;
  readonly dueAt: number;
}

function leased({ id, dueAt }: LeasedChallenge): Condition {
  return { sql: `id = :challenge AND due_at = :leased`, args: { challenge: id, leased: dueAt } };
}

/** Puts a leased challenge off; its wait ends at `movesAt` once it has begun. */
export function putOffChallenge(
  one: LeasedChallenge,
  { dueAt, movesAt = null }: { readonly dueAt: number; readonly movesAt?: number | null },
): Statement {
  const { sql, args } = leased(one);
  return {
    sql: `UPDATE challenges SET due_at = :due, moves_at = coalesce(moves_at, :moves_at) WHERE ${sql}`,
    args: { ...args, due: dueAt, moves_at: movesAt },
  };
}

/** Makes a challenge due, as a first notice of it has just been sent. */
export function wakeChallenge(id: number, now: number): Statement {
  return {
    sql: `UPDATE challenges SET due_at = :now WHERE id = :id AND moves_at IS NULL AND due_at > :now`,
    args: { id, now },
  };
}

/** Lets the wait of a leased challenge begin, which ends at `movesAt`. */
export function beginWait(one: LeasedChallenge, movesAt: number, now: number): readonly Statement[] {
  return [queueSoonNotices(leased(one), movesAt, now), putOffChallenge(one, { dueAt: movesAt, movesAt })];
}

/** Records that a leased challenge has to wait, and makes it due again; people within reach and apps are notified. */
export function judgeChallenge(one: LeasedChallenge, reach: Reach, now: number): readonly Statement[] {
  const { sql, args } = leased(one);
  const from = `FROM challenges WHERE ${sql} AND judged_at IS NULL`;
  const news: EventRows = { type: 'registration.challenged', app: HOLDERS_APP, data: CHALLENGE_DATA, from };
  const named = { sql: `challenges.id = :challenge AND challenges.due_at = :leased`, args };
  return [
    queueFirstNotices(named, reach, now),
    emitEvents([news], { ...args, now }),
    {
      sql: `UPDATE challenges SET judged_at = coalesce(judged_at, :now), due_at = :now WHERE ${sql}`,
      args: { ...args, now },
    },
  ];
}

/** Lets the claims of a leased challenge have the address; the settlement follows in the same batch. */
export function clearChallenge(one: LeasedChallenge): Statement {
  const { sql, args } = leased(one);
  return {
    sql: `UPDATE registrations SET waits = ${MAY_TAKE} WHERE waits = ${WAITS} AND EXISTS (SELECT 1 FROM challenges
      WHERE ${sql} AND challenges.identifier = registrations.identifier AND challenges.did = registrations.did)`,
    args,
  };
}

/** Ends a leased challenge. */
export function endLeased(one: LeasedChallenge, by: ChallengeEnd, now: number): readonly Statement[] {
  return endChallenge(leased(one), by, now);
}

/** Lets waits go on, and removes challenges that count for nothing any more, with their notices. */
export function sweepChallenges(now: number): readonly Statement[] {
  const lapsed = `(SELECT id FROM challenges WHERE ended_at <= :before ORDER BY ended_at, id LIMIT ${SWEEP_ROWS_MAX})`;
  const args = { before: now - CHALLENGE_KEPT_MS };
  return [
    ...resumeWaits(now),
    { sql: `DELETE FROM challenge_notices WHERE challenge_id IN ${lapsed}`, args },
    { sql: `DELETE FROM challenges WHERE id IN ${lapsed}`, args },
  ];
}
