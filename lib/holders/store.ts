import type { Condition, Statement } from '../db/database.ts';
import { type EventRows, emitEvents, maskedIdentifier, registrationRows } from '../events/emit.ts';
import { followHolderIfChanged, releaseSessions, SESSION_FOLLOWS, SESSION_HAS_HOLDER } from '../sessions/sessions.ts';
import { recallChallenges } from './challenge-queue-store.ts';
import { isSlow, WAITS } from './challenge-store.ts';

// The holder of an identifier, and the target of a credential: both are a function of the registrations and their
// controllers' keys. Each batch that changes one of these computes them again. No displacement is stored, so a
// registration that fails gives back all that it displaced. The rules of decision 0016 are these statements: here
// `RIGHTFUL` (the holder) and `lead` (a credential's rows); the reasons of `lib/registration/claim-store.ts`
// (admission); `lookup-store.ts` there (the answer of a look-up). Tests hold them against a model,
// `tests/support/evidence/model.ts`.

/**
 * Gives the identifiers of the registrations that the condition selects to their rightful holders, with their
 * sessions, and computes the rows of their credentials again. Follows the changes in the same batch.
 */
export function settleHolders(of: Condition, now: number): readonly Statement[] {
  const sql = settlementOf(of.sql);
  const timed = { ...of.args, now };
  return [
    { sql: sql.wait, args: of.args },
    { sql: sql.clear, args: of.args },
    recallChallenges({ sql: sql.named, args: of.args }, now),
    emitEvents(sql.news, timed),
    { sql: sql.release, args: timed },
    { sql: sql.hold, args: of.args },
    followHolderIfChanged({ sql: sql.named, args: of.args }, now),
    ...releaseSessions({ sql: sql.isOrphan, args: of.args }, now),
    { sql: sql.forget, args: of.args },
    { sql: sql.lead, args: of.args },
  ];
}

/** Computes the rows of the credentials again that an account's registrations name: a key of it came or went. */
export function settleCredentials(account: string): readonly Statement[] {
  const { forget, lead } = settlementOf(OF_ACCOUNT);
  return [forget, lead].map((sql) => ({ sql, args: { account } }));
}

/** The registrations that an account controls, or is to control. */
const OF_ACCOUNT = `status <> 'failed' AND (controller = :account
  OR id IN (SELECT registration_id FROM relays WHERE relays.controller = :account))`;

interface Settlement {
  readonly wait: string;
  readonly clear: string;
  readonly news: readonly EventRows[];
  readonly release: string;
  readonly hold: string;
  readonly named: string;
  readonly isOrphan: string;
  readonly forget: string;
  readonly lead: string;
}

/** The texts by condition: there are few, and the engine finds a statement by its text. */
const settlements = new Map<string, Settlement>();

function settlementOf(of: string): Settlement {
  const known = settlements.get(of) ?? createSettlement(of);
  settlements.set(of, known);
  return known;
}

function createSettlement(of: string): Settlement {
  const named = `identifier IN (SELECT identifier FROM registrations WHERE ${of})`;
  const credentials = `credential_id IN (SELECT credential_id FROM registrations WHERE ${of})`;
  return {
    // Later than the holder, final and proven: it would hold the address now if it did not have to wait.
    wait: `UPDATE registrations SET waits = ${WAITS} WHERE waits = 0 AND status <> 'failed' AND lost IS NULL
      AND channel <> 'handle' AND final = 1 AND proof_key IS NOT NULL AND holds = 0 AND ${named}
      AND EXISTS (SELECT 1 FROM registrations AS holder WHERE holder.identifier = registrations.identifier
        AND holder.holds = 1 AND holder.id < registrations.id AND holder.did <> registrations.did)`,
    // A failed one waits for nothing: else its challenge would be opened again.
    clear: `UPDATE registrations SET waits = 0 WHERE waits = ${WAITS} AND ${named}
      AND (status = 'failed' OR NOT EXISTS (SELECT 1 FROM registrations AS held WHERE held.id = ${RIGHTFUL}
        AND ${isSlow('held')} AND held.did <> registrations.did))`,
    news: newsOf(named),
    // The address is notified when another DID takes it.
    release: `UPDATE registrations SET holds = 0,
        notice_at = CASE WHEN ${IS_DISPLACED} AND channel <> 'handle' THEN :now ELSE notice_at END
      WHERE holds = 1 AND ${named} AND id IS NOT ${RIGHTFUL}`,
    hold: `UPDATE registrations SET holds = 1, notice_at = NULL
      WHERE holds = 0 AND status <> 'failed' AND ${named} AND id = ${RIGHTFUL}`,
    isOrphan: `${named} AND NOT ${SESSION_HAS_HOLDER}`,
    named,
    forget: `DELETE FROM credentials WHERE ${credentials}`,
    lead: `INSERT INTO credentials (credential_id, key, since, registration_id)
      SELECT credential_id, key, since, id FROM (
        SELECT *, row_number() OVER (PARTITION BY ${ROW} ORDER BY final DESC, status = 'confirmed' DESC,
          proof_key IS NOT NULL DESC, CASE WHEN proof_key IS NULL THEN id ELSE -id END) AS place
        FROM (SELECT *, min(id) OVER (PARTITION BY ${ROW}) AS since,
            first_value(did) OVER (PARTITION BY ${ROW} ORDER BY
              CASE WHEN final = 1 AND proof_key IS NOT NULL THEN id END DESC, status = 'confirmed' DESC, id) AS led_to
          FROM (SELECT *, coalesce(proof_key, ${SIGNED_BY_CONTROLLER}, '') AS key FROM registrations
            WHERE status <> 'failed' AND ${credentials}) AS claimed
          WHERE NOT EXISTS (SELECT 1 FROM account_keys
            WHERE account = coalesce(claimed.controller, claimed.smart_account) AND account_keys.key = claimed.key
              AND removed = 1))
        WHERE did = led_to)
      WHERE place = 1`,
  };
}

/** Whether an account (lower case) controls a DID with a final registration. */
export function selectIsRegistered(account: string): Statement {
  return {
    sql: `SELECT 1 FROM registrations WHERE controller = :account AND final = 1 AND status <> 'failed' AND lost IS NULL
      LIMIT 1`,
    args: { account },
  };
}

/**
 * A final, proven registration of an address or a number that does not wait holds it, the newest first; else the
 * earliest live one.
 */
const RIGHTFUL = `(SELECT id FROM registrations AS one WHERE one.identifier = registrations.identifier
  AND one.status <> 'failed' AND one.lost IS NULL ORDER BY
    CASE WHEN one.final = 1 AND one.proof_key IS NOT NULL AND one.channel <> 'handle' AND one.waits <> ${WAITS}
      THEN one.id END DESC, one.id
  LIMIT 1)`;

/** True of a live holder whose identifier goes to a later registration of another DID. */
const IS_DISPLACED = `status <> 'failed' AND lost IS NULL AND id < ${RIGHTFUL}
  AND did <> (SELECT did FROM registrations AS new WHERE new.id = ${RIGHTFUL})`;

/**
 * The key of the registration's controller that has signed for the credential: the first that the controller still has,
 * else the first that it had. A key that another account has lost does not count: anyone's contract can show it.
 */
const SIGNED_BY_CONTROLLER = `(SELECT proven.proof_key FROM registrations AS proven
  LEFT JOIN account_keys AS own ON own.account = registrations.controller AND own.key = proven.proof_key
  WHERE proven.credential_id = registrations.credential_id AND proven.status <> 'failed' AND proven.final = 1
    AND (proven.proof_key = registrations.controller_key OR own.key IS NOT NULL)
    AND (own.removed = 1 OR NOT EXISTS (SELECT 1 FROM account_keys AS lost
      WHERE lost.account = coalesce(proven.controller, proven.smart_account) AND lost.key = proven.proof_key
        AND lost.removed = 1))
  ORDER BY coalesce(own.removed, 0), proven.id LIMIT 1)`;

/** A credential's row: that of a key, and without a key (empty) that of a DID. */
const ROW = `credential_id, key, CASE key WHEN '' THEN did ELSE '' END`;

function newsOf(named: string): readonly EventRows[] {
  const holder = `FROM registrations WHERE holds = 1 AND ${named}`;
  // An earlier registration gets back an identifier that a later one held.
  const isBack = `EXISTS (SELECT 1 FROM registrations AS held WHERE held.identifier = registrations.identifier
    AND held.holds = 1 AND held.id > registrations.id AND held.did <> registrations.did)`;
  // The status is that of every rightful holder, and makes SQLite use the index of live rows.
  const rightful = `FROM registrations WHERE holds = 0 AND status <> 'failed' AND ${named} AND id = ${RIGHTFUL}`;
  return [
    registrationRows('registration.displaced', `${holder} AND ${IS_DISPLACED}`),
    registrationRows('registration.restored', `${rightful} AND ${isBack}`),
    {
      type: 'session.taken_over',
      app: 'app',
      data: {
        identifier: maskedIdentifier('identifier'),
        channel: 'channel',
        did: 'did',
        previous_did: `(SELECT did FROM sessions WHERE sessions.identifier = registrations.identifier)`,
      },
      from: `${rightful} AND EXISTS (SELECT 1 FROM sessions
        WHERE sessions.identifier = registrations.identifier AND sessions.did <> registrations.did
          AND ${SESSION_FOLLOWS})`,
    },
  ];
}

/** SQL for the DID to which a look-up without a key leads, null where there is none. Needs `:credential_id`. */
export const CREDENTIAL_ANSWER = `(SELECT did FROM credentials
  JOIN registrations ON registrations.id = registration_id WHERE credentials.credential_id = :credential_id
  ORDER BY status = 'confirmed' DESC, since LIMIT 1)`;

/** True of a registration whose credential leads to its DID already, without a key. Keys are unique by an index. */
const HAS_ROW_OF_DID = `EXISTS (SELECT 1 FROM credentials AS known JOIN registrations AS named
  ON named.id = known.registration_id WHERE known.credential_id = registrations.credential_id AND known.key = ''
    AND named.did = registrations.did)`;

/**
 * Opens the row of a new registration's credential, for the registration that the condition selects. A row that is
 * there already stays as it is: the latest of all shows more only once it is confirmed.
 */
export function openCredential({ sql, args }: Condition): Statement {
  return {
    sql: `INSERT INTO credentials (credential_id, key, since, registration_id)
      SELECT credential_id, coalesce(proof_key, ''), id, id FROM registrations
      WHERE ${sql} AND (proof_key IS NOT NULL OR NOT ${HAS_ROW_OF_DID}) ON CONFLICT DO NOTHING`,
    args,
  };
}

/**
 * Makes the registrations of handles due again whose alias was freed or registered for another DID in block `from` or
 * later, as far as the index has read, where they are no longer watched.
 */
export function recheckHandles(from: number, now: number, { sql, args }: Condition): Statement {
  return {
    sql: `UPDATE registrations SET next_check_at = :now WHERE id IN (SELECT id ${ofEventsSince('alias_hash')}
        AND kind IN ('AliasRegistered', 'AliasFreed') AND object IS NOT did_hash
        AND channel = 'handle' AND status <> 'failed' AND lost IS NULL AND next_check_at IS NULL) AND ${sql}`,
    args: { from, now, ...args },
  };
}

/**
 * Makes the registrations due again whose DID another address has controlled since block `from` or later, or that was
 * deactivated or registered again.
 */
export function recheckDids(from: number, now: number, { sql, args }: Condition): Statement {
  return {
    sql: `UPDATE registrations SET next_check_at = :now WHERE id IN (SELECT id ${ofEventsSince('did_hash')}
        AND ${CHANGES_DID} AND (object IS NOT controller OR active = 0) AND status = 'confirmed'
        AND next_check_at IS NULL)
      AND ${sql}`,
    args: { from, now, ...args },
  };
}

/**
 * Makes the registrations due again whose DID was moved or deactivated in blocks from `from` on, before those are taken
 * back.
 */
export function recheckMoved(from: number, now: number, { sql, args }: Condition): Statement {
  return {
    sql: `UPDATE registrations SET next_check_at = :now WHERE id IN (SELECT id ${ofEventsSince('did_hash')}
        AND kind IN ('DIDMoved', 'DIDDeactivated') AND status = 'confirmed' AND next_check_at IS NULL) AND ${sql}`,
    args: { from, now, ...args },
  };
}

/**
 * The registrations that events of block `:from` or later name. CROSS JOIN begins with the events, which are few;
 * SQLite would begin with the registrations.
 */
const ofEventsSince = (column: 'alias_hash' | 'did_hash') =>
  `FROM chain_events CROSS JOIN registrations ON registrations.${column} = subject WHERE block >= :from`;

/** A deactivation names no controller. */
const CHANGES_DID = `kind IN ('DIDRegistered', 'DIDMoved', 'DIDDeactivated')`;
