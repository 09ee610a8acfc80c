import { MINUTE_MS } from '../base/clock.ts';
import type { Statement } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';

/** A mail about a recovery: at its start, on a day while it runs, at its end. */
export type NoticeKind = 'started' | 'running' | 'ended';

/** The readers: the address that may recover the account, or its owner's second address. */
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

/** The pause after the first try of a notice; each further one is four times as long. */
export const RECOVERY_NOTICE_RETRY_MS = MINUTE_MS;

/** The mails about recoveries that are due. */
export const RECOVERY_NOTICES = dueQueue({
  table: 'recovery_notices',
  at: 'due_at',
  longest: `(${RECOVERY_NOTICE_RETRY_MS} << 2 * max(tries - 1, 0))`,
});

/**
 * Leases notices that are due, and returns their subject, address and preferences for mails, null where those are not
 * known. Each is due again later unless it is settled; after the last try it is given up.
 */
export function leaseRecoveryNotices(now: number, limit: number): Statement {
  const contact = (column: string) => ofRecovery('recovery_contacts', column, '');
  const address = (column: string) =>
    ofRecovery('recovery_addresses', column, 'AND recovery_addresses.commitment = recoveries.commitment');
  return RECOVERY_NOTICES.lease({
    set: `tries = tries + 1, due_at = CASE
      WHEN tries + 1 < ${RECOVERY_NOTICE_TRIES_MAX} THEN :now + (${RECOVERY_NOTICE_RETRY_MS} << 2 * tries) END`,
    returning: `id, recovery_id, kind, day, recipient,
      CASE recipient WHEN 'owner' THEN (SELECT identifier FROM recoveries WHERE recoveries.id = recovery_id)
        ELSE ${contact('identifier')} END AS identifier,
      CASE recipient WHEN 'owner' THEN ${address('app')} ELSE ${contact('app')} END AS app,
      CASE recipient WHEN 'owner' THEN ${address('language')} ELSE ${contact('language')} END AS language`,
    now,
    limit,
  });
}

/** A column of the row that belongs to a notice's recovery, by its account. */
function ofRecovery(table: 'recovery_addresses' | 'recovery_contacts', column: string, and: string): string {
  return `(SELECT ${table}.${column} FROM ${table} JOIN recoveries ON recoveries.account = ${table}.account
    AND recoveries.chain_id = ${table}.chain_id ${and} WHERE recoveries.id = recovery_id)`;
}

/** Settles a notice: it was sent, or it has no recipient. */
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
