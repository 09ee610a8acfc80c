import { DAY_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { argsIn, type Condition, type Statement } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';
import { eventOf, maskCredential } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { languageOf, pauseAfter, RECIPIENTS_MAX } from './challenge-notice-store.ts';

// The passkeys that were seen in use for an account. The holder of its addresses is notified of a new one.

/** The first use of a key, or another one. */
export interface PasskeyUse {
  readonly did: string;
  /** Lower-case. */
  readonly account: string;
  /** 0x and x‖y in hex. */
  readonly key: string;
  readonly credentialId: string;
  readonly app: string;
  readonly by: 'signin' | 'registration';
  /** The registration that the key has just proven; null for a sign-in. */
  readonly registration: number | null;
}

/**
 * Mails to one address in 24 hours: the holder of one key can add others to the account as often as they pay for it.
 */
const MAILS_A_DAY_MAX = 3;
/** How long a notice is kept; another row keeps the key known. */
const KEPT_MS = 30 * DAY_MS;
/** Tries of one notice: they last two days. */
const TRIES_MAX = 15;

/** The notices of new passkeys that are due. */
export const PASSKEY_NOTICES = dueQueue({
  table: 'passkey_notices',
  at: 'due_at',
  longest: pauseAfter('max(tries - 1, 0)'),
});

/** A registration that shows whose the DID is, other than the one that the key has just proven. */
const PROVEN = `did = :did AND status <> 'failed' AND status = 'confirmed' AND final = 1 AND proof_key IS NOT NULL
  AND id <> coalesce(:registration, 0)`;

/** No notice is sent of the first passkey: there is no other one to compare it with. */
const IS_NEW = `NOT EXISTS (SELECT 1 FROM known_keys WHERE account = :account AND key = :key)
  AND EXISTS (SELECT 1 FROM registrations WHERE ${PROVEN})
  AND NOT EXISTS (SELECT 1 FROM registrations WHERE ${PROVEN} AND proof_key = :key)`;

/**
 * Notes that a key is at work for an account, if the condition is true. If the key is new, an event says so, and
 * mails to the other proven addresses of the DID and to the contact of the account's recovery are queued.
 */
export function notePasskeyUse(
  { credentialId, app, by, ...of }: PasskeyUse,
  { chainId, now }: { readonly chainId: number; readonly now: number },
  { sql, args }: Condition = { sql: 'true', args: {} },
): readonly Statement[] {
  const given = { ...of, app, by, chain_id: chainId, now, ...args };
  const change = (text: string) => ({ sql: text, args: argsIn(given, text) });
  const when = change(`${IS_NEW} AND ${sql}`);
  const data = { did: of.did, credential: maskCredential(credentialId), by };
  return [
    emitEvent(eventOf('passkey.first_used', { app, at: now }, data), { when }),
    change(queueText(when.sql)),
    change(`INSERT INTO known_keys (account, key) SELECT :account, :key WHERE ${sql} ON CONFLICT DO NOTHING`),
  ];
}

const queueText = (when: string) => `INSERT INTO passkey_notices
    (did, account, key, by, identifier, app, language, at, due_at)
  SELECT :did, :account, :key, :by, identifier, :app, language, :now, :now FROM (
    SELECT identifier, ${languageOf('known.identifier')} AS language FROM registrations AS known
      WHERE ${PROVEN} AND holds = 1 AND channel = 'email' AND lost IS NULL
    UNION ALL SELECT identifier, language FROM recovery_contacts
      WHERE chain_id = :chain_id AND account = :account AND identifier LIKE 'email:%') AS reader
  WHERE identifier NOT LIKE '%@erased' AND ${when} AND (SELECT count(*) FROM passkey_notices AS sent
    WHERE sent.identifier = reader.identifier AND sent.at > :now - ${DAY_MS}) < ${MAILS_A_DAY_MAX}
  LIMIT ${RECIPIENTS_MAX} ON CONFLICT DO NOTHING`;

/** Leases notices that are due. Each is due again later unless it is settled; after the last try it is given up. */
export function leasePasskeyNotices(now: number, limit: number): Statement {
  return PASSKEY_NOTICES.lease({
    set: `tries = tries + 1, due_at = CASE WHEN tries + 1 < ${TRIES_MAX} THEN :now + ${pauseAfter('tries')} END`,
    returning: 'id, account, by, identifier, app, language, at',
    now,
    limit,
  });
}

/** Settles a notice: it was sent, or it has no recipient. */
export function settlePasskeyNotice(id: number, isSent: boolean, now: number): Statement {
  return {
    sql: `UPDATE passkey_notices SET due_at = NULL, sent_at = :sent_at WHERE id = :id`,
    args: { id, sent_at: isSent ? now : null },
  };
}

/** Removes old notices. */
export function sweepPasskeyNotices(now: number): Statement {
  return {
    sql: `DELETE FROM passkey_notices WHERE id IN
      (SELECT id FROM passkey_notices WHERE at <= :before LIMIT ${SWEEP_ROWS_MAX})`,
    args: { before: now - KEPT_MS },
  };
}
