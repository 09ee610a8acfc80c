import { DAY_MS } from '../base/clock.ts';
import type { Condition, Row, Statement } from '../db/database.ts';
import { type EventRows, emitEvents, emitRegistrationsFailed, maskedIdentifier } from '../events/emit.ts';
import { endNotices } from './challenge-notice-store.ts';

// Challenges: a final, proven registration of another DID waits for an address whose holder has a passkey
// (docs/decisions/0043). Waiting claims have `waits`; a row here says since when the DID waits, and how it ended.

/** `registrations.waits` of a claim that waits for its address, and of one that need not wait any more. */
export const WAITS = 1;
export const MAY_TAKE = 2;

/** After how long a challenge counts for nothing any more. */
export const CHALLENGE_KEPT_MS = 90 * DAY_MS;
/** How long a DID waits that was refused: doubled each time, up to the most. */
const REFUSED_MS = DAY_MS;
const REFUSED_MAX_MS = 30 * DAY_MS;
/** How long the operator's undo keeps a DID from an address. */
const BARRED_MS = 30 * DAY_MS;
/** How many challenges others may replace, and in which time. */
const REPLACED_MAX = 3;
const REPLACED_WINDOW_MS = 30 * DAY_MS;
const REPLACED_PAUSE_MS = DAY_MS;

/** How a challenge ended. `undone`: by the operator. */
export type ChallengeEnd = 'holder' | 'released' | 'replaced' | 'moved' | 'failed' | 'undone';

/** SQL: whether a registration's address moves slowly, where that holds it. */
export function isSlow(one: string): string {
  return `(${one}.final = 1 AND ${one}.proof_key IS NOT NULL AND ${one}.active = 1 AND ${one}.channel <> 'handle')`;
}

/** SQL: the claims that wait, or may, of another DID than their address's holder, which is `holder`. */
export const isChallengerOf = (one: string, holder: string) => `(${one}.identifier = ${holder}.identifier
  AND ${one}.status <> 'failed' AND ${one}.lost IS NULL AND ${one}.proof IS NOT NULL AND ${one}.channel <> 'handle'
  AND ${one}.id > ${holder}.id AND ${one}.did <> ${holder}.did AND ${holder}.holds = 1 AND ${isSlow(holder)})`;

/** SQL: the columns of `holder` by which its account is asked. */
export const HOLDER = `holder.id AS holder_id, holder.did AS holder_did, holder.controller AS holder_controller,
  holder.controller_key AS holder_key, holder.proof_key AS holder_proof_key`;

/** SQL: a standing challenge of `:identifier`. */
export const STANDING = `identifier = :identifier AND ended_at IS NULL`;
const COUNTED = (by: ChallengeEnd, since: string) =>
  `FROM challenges WHERE identifier = :identifier AND ended_at > ${since} AND ended_by = '${by}'`;

/** When a DID may claim an address again that refused it: null if nothing keeps it away. */
const REFUSED_UNTIL = `(SELECT max(ended_at) + min(${REFUSED_MS} << min(count(*) - 1, 5), ${REFUSED_MAX_MS})
  ${COUNTED('holder', `:now - ${CHALLENGE_KEPT_MS}`)} AND did = :did)`;
const BARRED_UNTIL = `(SELECT max(ended_at) + ${BARRED_MS} ${COUNTED('undone', `:now - ${BARRED_MS}`)} AND did = :did)`;
/** SQL: when another DID may take the place of the one that waits; null if it may. */
export const REPLACED_UNTIL = `(CASE WHEN EXISTS (SELECT 1 FROM challenges WHERE ${STANDING} AND did <> :did) THEN
  max(coalesce((SELECT max(ended_at) + ${REPLACED_PAUSE_MS} ${COUNTED('replaced', `:now - ${REPLACED_PAUSE_MS}`)}), 0),
    coalesce((SELECT ended_at + ${REPLACED_WINDOW_MS} ${COUNTED('replaced', `:now - ${REPLACED_WINDOW_MS}`)}
      ORDER BY ended_at DESC LIMIT 1 OFFSET ${REPLACED_MAX - 1}), 0)) END)`;

const KEPT_OUT_UNTIL = `max(coalesce(${REFUSED_UNTIL}, 0), coalesce(${BARRED_UNTIL}, 0),
  coalesce(${REPLACED_UNTIL}, 0))`;

/**
 * SQL: a DID that was refused this address, or comes after too many others, has to wait; never its holder. Needs
 * `:identifier`, `:did` and `:now`.
 */
export const IS_KEPT_OUT = `(${KEPT_OUT_UNTIL} > :now AND NOT EXISTS (SELECT 1 FROM registrations
  WHERE identifier = :identifier AND holds = 1 AND did = :did))`;
/** SQL: until when, null if it need not. */
export const KEPT_OUT_TO = `CASE WHEN ${IS_KEPT_OUT} THEN ${KEPT_OUT_UNTIL} END AS kept_out_to`;

/** A DID that claims an address. */
export interface Challenger {
  readonly identifier: string;
  readonly did: string;
}

/** Takes the address from the claims that the condition selects: they keep DID and credential. */
export function loseAddress(
  where: string,
  reason: 'replaced' | 'identifier_taken' | 'withdrawn_by_holder',
  args: Condition['args'] & { readonly now: number },
): readonly Statement[] {
  const { now, ...rest } = args;
  const needsNow = where.includes(':now');
  return [
    emitRegistrationsFailed(`FROM registrations WHERE ${where}`, `'${reason}'`, args),
    { sql: `UPDATE registrations SET lost = '${reason}', waits = 0 WHERE ${where}`, args: needsNow ? args : rest },
  ];
}

/**
 * Ends the standing challenges that the condition selects. Recipients of the first notice are notified of the end, apps
 * by an event.
 */
export function endChallenge({ sql, args }: Condition, by: ChallengeEnd, now: number): readonly Statement[] {
  const told = by === 'undone' ? 'failed' : by;
  return [
    emitEvents([ended(`FROM challenges WHERE ${sql} AND ended_at IS NULL AND judged_at IS NOT NULL`, told)], {
      ...args,
      now,
    }),
    ...endNotices({ sql, args }, by === 'moved' || by === 'released', now),
    {
      sql: `UPDATE challenges SET ended_at = :now, ended_by = '${by}', due_at = NULL WHERE ${sql} AND ended_at IS NULL`,
      args: { ...args, now },
    },
  ];
}

/** SQL: the app of the address's holder, which gets a challenge's events. */
export const HOLDERS_APP = `coalesce((SELECT app FROM registrations WHERE registrations.identifier = challenges.identifier
  AND holds = 1), 'default')`;
/** The data of a challenge's events. */
export const CHALLENGE_DATA = {
  identifier: maskedIdentifier('identifier'),
  channel: `substr(identifier, 1, instr(identifier, ':') - 1)`,
  did: 'did',
};

function ended(from: string, by: string): EventRows {
  return {
    type: 'registration.challenge_ended',
    app: HOLDERS_APP,
    data: { ...CHALLENGE_DATA, by: `'${by}'` },
    from,
  };
}

/**
 * Ends the wait of another DID's claims, since a later claim holds the address. `holder`: the holder claimed the
 * address again; `replaced`: a third DID was allowed to take it, and nobody refused the waiting one.
 */
export function withdrawWaiting(
  { identifier, did }: Challenger,
  by: 'holder' | 'replaced',
  now: number,
): readonly Statement[] {
  const args = { identifier, did };
  const reason = by === 'holder' ? 'withdrawn_by_holder' : 'replaced';
  return [
    ...endChallenge({ sql: `${STANDING} AND did = :did`, args }, by, now),
    ...loseAddress(`identifier = :identifier AND did = :did AND waits = ${WAITS}`, reason, { ...args, now }),
  ];
}

/**
 * The DID that has claimed an address, the standing one first, else the newest that is not final yet, with the holder:
 * one row or none.
 */
export function selectChallenged(identifier: string): Statement {
  return {
    sql: `SELECT claim.did, claim.final, ${HOLDER} FROM registrations AS holder JOIN registrations AS claim ON claim.identifier = holder.identifier
      WHERE holder.identifier = :identifier AND holder.holds = 1 AND claim.waits <> ${MAY_TAKE}
        AND ${isChallengerOf('claim', 'holder')} ORDER BY claim.waits DESC, claim.id DESC LIMIT 1`,
    args: { identifier },
  };
}

/** True of an address that no DID claims from its holder. */
export function isUnclaimed(identifier: string): Condition {
  return { sql: `NOT EXISTS ${CHALLENGERS}`, args: { identifier } };
}

/** A holder lets another DID have its address. */
export interface LettingGo extends Challenger {
  /** The id of the holder's row. */
  readonly holder: number;
}

/** The first of its batch, which lets a DID's claims have an address while the holder is the same: the verdict. */
export function letClaims({ identifier, did, holder }: LettingGo): Statement {
  return {
    sql: `UPDATE registrations SET waits = ${MAY_TAKE} WHERE did = :did AND waits <> ${MAY_TAKE} AND id IN ${CHALLENGERS}
      AND EXISTS (SELECT 1 FROM registrations WHERE id = :holder AND holds = 1)`,
    args: { identifier, did, holder },
  };
}

/** Ends the challenge of a DID that its holder has let have the address. */
export function endReleased({ identifier, did }: Challenger, now: number): readonly Statement[] {
  return endChallenge({ sql: `${STANDING} AND did = :did`, args: { identifier, did } }, 'released', now);
}

/** The claims that challenge an address's holder, or will once they are final. */
const CHALLENGERS = `(SELECT claim.id FROM registrations AS holder JOIN registrations AS claim
  ON claim.identifier = holder.identifier WHERE holder.identifier = :identifier AND holder.holds = 1
    AND ${isChallengerOf('claim', 'holder')})`;

/** Ends every claim of other DIDs to an address, since its holder has renewed it, if the condition holds. */
export function withdrawChallengers(identifier: string, now: number, { sql, args }: Condition): readonly Statement[] {
  const timed = { ...args, identifier, now };
  const refused = `id IN ${CHALLENGERS} AND ${sql}`;
  return [
    {
      sql: `INSERT INTO challenges (identifier, did, opened_at, ended_at, ended_by)
        SELECT DISTINCT identifier, did, :now, :now, 'holder' FROM registrations WHERE ${refused}
          AND NOT EXISTS (SELECT 1 FROM challenges AS open WHERE open.identifier = registrations.identifier
            AND open.did = registrations.did AND open.ended_at IS NULL)`,
      args: timed,
    },
    ...loseAddress(refused, 'withdrawn_by_holder', timed),
    ...endChallenge({ sql: `${STANDING} AND ${sql}`, args: { ...args, identifier } }, 'holder', now),
  ];
}

/** When the address moves that a claim waits for; null until its challenge has a time. */
export interface AwaitedMove {
  readonly movesAt: number | null;
  readonly registeredAt: number;
}

/**
 * The newest claim of a DID that waits for an address, or will: one row or none. Not one of the holder's own controller
 * or by a key of it, as far as that is known.
 */
export function selectAwaitedMove({ identifier, did }: Challenger): Statement {
  return {
    sql: `SELECT claim.registered_at, (SELECT moves_at FROM challenges WHERE ${STANDING} AND did = :did) AS moves_at
      FROM registrations AS holder JOIN registrations AS claim ON claim.identifier = holder.identifier
      WHERE holder.identifier = :identifier AND holder.holds = 1 AND claim.did = :did AND claim.status <> 'failed'
        AND claim.waits <> ${MAY_TAKE} AND ${isChallengerOf('claim', 'holder')} AND NOT ${isOwn('claim', 'holder')}
      ORDER BY claim.id DESC LIMIT 1`,
    args: { identifier, did },
  };
}

/** Reads a row of `selectAwaitedMove`. */
export function toAwaitedMove(row: Row): AwaitedMove {
  const { moves_at: movesAt, registered_at: registeredAt } = row;
  return { movesAt: movesAt === null ? null : Number(movesAt), registeredAt: Number(registeredAt) };
}

/** SQL: whether a claim is by the controller of the holder, or by a key of it. */
const isOwn = (claim: string, holder: string) => `coalesce(coalesce(${claim}.controller, ${claim}.smart_account)
    = ${holder}.controller OR ${claim}.proof_key = ${holder}.controller_key OR EXISTS (SELECT 1 FROM account_keys
      WHERE account_keys.account = ${holder}.controller AND account_keys.key = ${claim}.proof_key AND removed = 0), 0)`;
