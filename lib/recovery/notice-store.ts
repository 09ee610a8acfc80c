import type { Statement } from '../db/database.ts';
import { lateBy } from '../db/leases.ts';

/** A mail about a recovery: at its start, on a day while it runs, at its end. */
export type NoticeKind = 'started' | 'running' | 'ended';

/** Who hears: who may recover the account, or its owner's second address. */
export type NoticeRecipient = 'owner' | 'contact';

/** Tries of one notice. */
export const RECOVERY_NOTICE_TRIES_MAX = 8;

/** Queues a notice to both addresses, once each; `day` counts from the start. */
export function queueNotices(recoveryId: number, kind: NoticeKind, day: number, now: number): Statement {
  return {
    sql: `INSERT INTO recovery_notices (recovery_id, kind, day, recipient, due_at)
      SELECT :recovery_id, :kind, :day, value, :now FROM json_each('["owner","contact"]') WHERE true
      ON CONFLICT (recovery_id, kind, day, recipient) DO NOTHING`,
    args: { recovery_id: recoveryId, kind, day, now },
  };
}

/**
 * Leases up to `limit` notices that are due, and returns what they are about and their address: null if there is none.
 * Each is due again later, four times as long after each try, unless it is settled; after the last one it is given up.
 */
export function leaseRecoveryNotices(now: number, firstRetryMs: number, limit: number): Statement {
  const address = (table: string, key: string) => `(SELECT ${table}.identifier FROM ${table}
    ${table === 'recoveries' ? '' : 'JOIN recoveries ON recoveries.account = recovery_contacts.account AND recoveries.chain_id = recovery_contacts.chain_id'}
    WHERE recoveries.id = ${key})`;
  return {
    sql: `UPDATE recovery_notices SET tries = tries + 1, due_at = CASE
        WHEN tries + 1 < ${RECOVERY_NOTICE_TRIES_MAX} THEN :now + (:retry << 2 * tries) END
      WHERE id IN (SELECT id FROM recovery_notices WHERE due_at <= :now ORDER BY due_at LIMIT :limit)
      RETURNING id, recovery_id, kind, day, recipient,
        CASE recipient WHEN 'owner' THEN ${address('recoveries', 'recovery_id')}
          ELSE ${address('recovery_contacts', 'recovery_id')} END AS identifier`,
    args: { now, retry: firstRetryMs, limit },
  };
}

/** Makes notices due that a clock which was off has put off for longer than the pause after their last try. */
export function recallLateRecoveryNotices(now: number, firstRetryMs: number): Statement {
  return {
    sql: `UPDATE recovery_notices SET due_at = :now
      WHERE due_at > :latest AND due_at > :latest + (:retry << 2 * max(tries - 1, 0))`,
    args: { retry: firstRetryMs, ...lateBy(now, 0) },
  };
}

/** Settles a notice: it was sent, or there is nobody to send it to. */
export function settleRecoveryNotice(id: number, isSent: boolean, now: number): Statement {
  return {
    sql: `UPDATE recovery_notices SET due_at = NULL, sent_at = :sent_at WHERE id = :id`,
    args: { id, sent_at: isSent ? now : null },
  };
}

/** Forgets the addresses of recoveries that ended for good, once all has been said. */
export function forgetAddresses(): Statement {
  return {
    sql: `UPDATE recoveries SET identifier = NULL WHERE identifier IS NOT NULL AND next_check_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM recovery_notices WHERE recovery_id = recoveries.id AND due_at IS NOT NULL)`,
    args: {},
  };
}
