import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { argsIn, type Condition, type Statement } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';

// The recipients of a challenge's notices: the address, the holder's other addresses and the contact of its recovery.
// They are notified when it begins, a day before the address moves, and at the end. Recipients of the first notice get
// the others too, whatever changes meanwhile.

/** When a notice is sent. */
export type ChallengeNoticeKind = 'begun' | 'soon' | 'ended';

/** How long before an address moves its second notice is sent. */
export const SOON_MS = DAY_MS;
/** The pause after the first try of a notice; each further one is four times as long, up to four hours. */
const NOTICE_PAUSE_MS = MINUTE_MS;
const PAUSES_MAX = 4;
/** Tries of one notice: they last a week, as long as a challenge waits for its first notice. */
const TRIES_MAX = 44;
/** One challenge, or one new passkey, sends at most so many messages of a kind. */
export const RECIPIENTS_MAX = 12;

/** SQL: the pause after so many further tries of a notice, in milliseconds. */
export const pauseAfter = (tries: string) => `(${NOTICE_PAUSE_MS} << 2 * min(${tries}, ${PAUSES_MAX}))`;

/** The notices of challenges that are due. */
export const CHALLENGE_NOTICES = dueQueue({
  table: 'challenge_notices',
  at: 'due_at',
  // A notice of a move waits for its time, at most as long as an address waits.
  longest: `(CASE tries WHEN 0 THEN ${31 * DAY_MS} ELSE ${pauseAfter('tries - 1')} END)`,
});

/** Whom a vault can write to. */
export interface Reach {
  readonly chainId: number;
  readonly mail: boolean;
  readonly sms: boolean;
}

/** SQL: the language in which an address's own mails of recoveries are. */
export const languageOf = (identifier: string) => `(SELECT language FROM recovery_addresses
  WHERE recovery_addresses.identifier = ${identifier} AND language IS NOT NULL LIMIT 1)`;

/**
 * Queues the notices of a challenge's begin to whom the vault can write, if the condition is true of its row. Another
 * address counts if its registration is proven: others may claim the holder's DID for an address of theirs.
 */
export function queueFirstNotices({ sql, args }: Condition, { chainId, mail, sms }: Reach, now: number): Statement {
  const holder = `(SELECT challenges.id AS challenge_id, holder.* FROM challenges JOIN registrations AS holder
    ON holder.identifier = challenges.identifier AND holder.holds = 1 WHERE ${sql} AND judged_at IS NULL) AS holder`;
  return {
    sql: `INSERT INTO challenge_notices (challenge_id, kind, recipient, identifier, app, language, due_at)
      SELECT challenge_id, 'begun', recipient, identifier, app, language, :now FROM (
        SELECT challenge_id, 'address' AS recipient, identifier, app, ${languageOf('holder.identifier')} AS language
          FROM ${holder}
        UNION ALL SELECT challenge_id, 'other', other.identifier, other.app, ${languageOf('other.identifier')}
          FROM ${holder} JOIN registrations AS other ON other.did = holder.did AND other.status <> 'failed'
          WHERE other.holds = 1 AND other.identifier <> holder.identifier AND other.channel <> 'handle'
            AND other.status = 'confirmed' AND other.final = 1 AND other.proof_key IS NOT NULL AND other.lost IS NULL
        UNION ALL SELECT challenge_id, 'contact', contact.identifier, coalesce(contact.app, holder.app), contact.language
          FROM ${holder} JOIN recovery_contacts AS contact
            ON contact.chain_id = :chain_id AND contact.account = holder.controller)
      WHERE (:mail AND identifier LIKE 'email:%' OR :sms AND identifier LIKE 'sms:%')
        AND identifier NOT LIKE '%@erased'
      LIMIT ${RECIPIENTS_MAX} ON CONFLICT DO NOTHING`,
    args: { ...args, chain_id: chainId, mail: Number(mail), sms: Number(sms), now },
  };
}

/** Queues the notices that an address moves soon, if the condition is true of its challenge. */
export function queueSoonNotices({ sql, args }: Condition, movesAt: number, now: number): Statement {
  return {
    sql: `INSERT INTO challenge_notices (challenge_id, kind, recipient, identifier, app, language, due_at)
      SELECT challenge_id, 'soon', recipient, identifier, app, language, :soon FROM challenge_notices
      WHERE kind = 'begun' AND :soon > :now AND challenge_id IN (SELECT id FROM challenges WHERE ${sql})
      ON CONFLICT DO NOTHING`,
    args: { ...args, soon: movesAt - SOON_MS, now },
  };
}

/**
 * Queues the notices of the end of the standing challenges that the condition selects, in place of those before. An
 * address that moves gets the notice of a takeover instead.
 */
export function endNotices({ sql, args }: Condition, isTaken: boolean, now: number): readonly Statement[] {
  const ofEnded = `challenge_id IN (SELECT id FROM challenges WHERE ${sql} AND ended_at IS NULL)`;
  const others = isTaken ? `AND recipient <> 'address'` : '';
  const queue = `INSERT INTO challenge_notices (challenge_id, kind, recipient, identifier, app, language, due_at)
    SELECT challenge_id, 'ended', recipient, identifier, app, language, :now FROM challenge_notices
    WHERE kind = 'begun' ${others} AND ${ofEnded} ON CONFLICT DO NOTHING`;
  const stop = `UPDATE challenge_notices SET due_at = NULL
    WHERE due_at IS NOT NULL AND kind <> 'ended' AND ${ofEnded}`;
  const timed = { ...args, now };
  return [queue, stop].map((text) => ({ sql: text, args: argsIn(timed, text) }));
}

/**
 * Leases notices that are due, and returns them with their challenge. Each is due again later unless it is settled;
 * after the last try it is given up.
 */
export function leaseChallengeNotices(now: number, limit: number): Statement {
  const ofChallenge = ['identifier', 'opened_at', 'moves_at', 'ended_by'].map(
    (name) => `(SELECT ${name} FROM challenges WHERE challenges.id = challenge_id) AS challenge_${name}`,
  );
  return CHALLENGE_NOTICES.lease({
    set: `tries = tries + 1, due_at = CASE WHEN tries + 1 < ${TRIES_MAX} THEN :now + ${pauseAfter('tries')} END`,
    returning: `id, challenge_id, kind, identifier, app, language, ${ofChallenge.join(', ')}`,
    now,
    limit,
  });
}

/** Settles a notice: it was sent, or it has no recipient. */
export function settleChallengeNotice(id: number, isSent: boolean, now: number): Statement {
  return {
    sql: `UPDATE challenge_notices SET due_at = NULL, sent_at = :sent_at WHERE id = :id`,
    args: { id, sent_at: isSent ? now : null },
  };
}

/** SQL over a row of `challenges`: how many notices its begin has, and how many of them were sent. */
export const FIRST_NOTICES = `(SELECT count(*) FROM challenge_notices
    WHERE challenge_id = challenges.id AND kind = 'begun') AS notices,
  (SELECT count(sent_at) FROM challenge_notices WHERE challenge_id = challenges.id AND kind = 'begun') AS told`;
