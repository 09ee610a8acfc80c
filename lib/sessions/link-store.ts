import { indexedDid } from '../aliases/aliases.ts';
import { HOUR_MS } from '../base/clock.ts';
import type { Condition, Statement } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';
import { emitSessions } from '../events/emit.ts';

/** SQL that is true of a session of a handle: the chain decides no other identifier. */
export const IS_HANDLE = `identifier GLOB 'handle:*'`;

/** SQL that is true of a session row whose alias leads to its DID in the index. */
export const SESSION_IS_ON_CHAIN = `(${IS_HANDLE}
  AND coalesce(${indexedDid('sessions.alias_hash')} = sessions.did_hash, 0))`;

/** True of a session whose identifier a registration of its DID holds. */
const HAS_REGISTRATION = `EXISTS (SELECT 1 FROM registrations
  WHERE registrations.identifier = sessions.identifier AND registrations.did = sessions.did AND holds = 1)`;

/**
 * After the index got the blocks from `from` on: links the live sessions whose alias leads to their DID now, and makes
 * those due whose alias was registered, for any DID.
 */
export function linkSessions(from: number, now: number, { sql, args }: Condition): readonly Statement[] {
  const linked = `linked = 0 AND expires_at > :now AND ${ALIAS_SINCE} AND ${SESSION_IS_ON_CHAIN} AND ${sql}`;
  const named = { from, now, ...args };
  return [
    emitSessions('session.linked', `FROM sessions WHERE ${linked}`, named),
    { sql: `UPDATE sessions SET linked = 1 WHERE ${linked}`, args: named },
    {
      sql: `UPDATE sessions SET ask_at = min(ask_at, :now) WHERE ask_at IS NOT NULL AND ${ALIAS_SINCE} AND ${sql}`,
      args: named,
    },
  ];
}

/**
 * Unlinks the sessions that only an alias registered in block `from` or later links; they lapse at `lapseAt`
 * (milliseconds) unless linked again.
 */
export function unlinkSessions(
  { from, lapseAt, now }: { readonly from: number; readonly lapseAt: number; readonly now: number },
  { sql, args }: Condition,
): readonly Statement[] {
  const unlinked = `linked = 1 AND ${ALIAS_SINCE} AND ${SESSION_IS_ON_CHAIN} AND NOT ${HAS_REGISTRATION} AND ${sql}`;
  return [
    emitSessions('session.unlinked', `FROM sessions WHERE ${unlinked}`, { from, now, ...args }),
    {
      sql: `UPDATE sessions SET linked = 0, ask_at = :now, expires_at = max(expires_at, :lapse_at)
        WHERE ${unlinked}`,
      args: { from, now, lapse_at: lapseAt, ...args },
    },
  ];
}

/** After the index got the blocks from `from` on: the chain is asked about the sessions whose alias was freed. */
export function recheckSessions(from: number, now: number, { sql, args }: Condition): Statement {
  return {
    sql: `UPDATE sessions SET ask_at = :now WHERE linked = 1 AND ${IS_HANDLE} AND alias_hash IN
      (SELECT subject FROM chain_events WHERE block >= :from AND kind = 'AliasFreed') AND ${sql}`,
    args: { from, now, ...args },
  };
}

const ALIAS_SINCE = `${IS_HANDLE} AND alias_hash IN
  (SELECT subject FROM chain_events WHERE block >= :from AND kind = 'AliasRegistered')`;

/** A session of a handle that the chain is asked about; `askAt` is the end of the lease. */
export interface AskedSession {
  readonly identifier: string;
  readonly aliasHash: string;
  readonly didHash: string;
  readonly linked: boolean;
  readonly askAt: number;
}

/** The pauses between two looks at a session double up to this. */
export const SESSION_ASK_MAX_MS = HOUR_MS;

/** The sessions of which the chain is asked again. */
export const ASKS = dueQueue({ table: 'sessions', at: 'ask_at', key: 'identifier', longest: SESSION_ASK_MAX_MS });

/** Leases due sessions. The next time doubles from `firstMs` with each lease: it stands if nothing is written. */
export function leaseDueSessions(now: number, firstMs: number, limit: number): Statement {
  return ASKS.lease({
    set: `asks = asks + 1, ask_at = :now + min(${SESSION_ASK_MAX_MS}, :first << min(asks, 20))`,
    returning: 'identifier, alias_hash, did_hash, linked, ask_at',
    args: { first: firstMs },
    now,
    limit,
  });
}

/** True while the lease of `leaseDueSessions` is held and the session is the same. */
const IS_LEASED = `identifier = :identifier AND ask_at = :leased AND did_hash = :did_hash`;

const leaseArgs = ({ identifier, askAt, didHash }: AskedSession) => ({ identifier, leased: askAt, did_hash: didHash });

/** The alias leads to the session's DID: links it, and stops asking once that is final. */
export function linkAskedSession(session: AskedSession, isFinal: boolean, now: number): readonly Statement[] {
  const args = leaseArgs(session);
  return [
    emitSessions('session.linked', `FROM sessions WHERE ${IS_LEASED} AND linked = 0 AND expires_at > :now`, {
      ...args,
      now,
    }),
    {
      sql: `UPDATE sessions SET linked = 1, ask_at = CASE WHEN :final THEN NULL ELSE ask_at END
        WHERE ${IS_LEASED} AND (linked = 1 OR expires_at > :now)`,
      args: { ...args, now, final: Number(isFinal) },
    },
  ];
}

/**
 * The alias leads to the session's DID for good: makes the registrations of another DID due, where they are watched no
 * more.
 */
export function recheckContradicted({ identifier, didHash }: AskedSession, now: number): Statement {
  return {
    sql: `UPDATE registrations SET next_check_at = :now WHERE identifier = :identifier AND status <> 'failed'
      AND lost IS NULL AND next_check_at IS NULL AND did_hash <> :did_hash`,
    args: { identifier, did_hash: didHash, now },
  };
}

/** The alias leads nowhere any more: a session that no registration links lapses at `lapseAt`. */
export function unlinkAskedSession(session: AskedSession, lapseAt: number, now: number): readonly Statement[] {
  const unlinked = `${IS_LEASED} AND linked = 1 AND NOT ${HAS_REGISTRATION}`;
  const args = leaseArgs(session);
  return [
    emitSessions('session.unlinked', `FROM sessions WHERE ${unlinked}`, { ...args, now }),
    {
      sql: `UPDATE sessions SET linked = 0, expires_at = max(expires_at, :lapse_at) WHERE ${unlinked}`,
      args: { ...args, lapse_at: lapseAt },
    },
  ];
}

/** The alias leads to another DID for good: ends the session. The sweep emits its event. */
export function endAskedSession(session: AskedSession, now: number): readonly Statement[] {
  return [
    {
      sql: `UPDATE sessions SET linked = 0, ask_at = NULL, expires_at = min(expires_at, :now) WHERE ${IS_LEASED}`,
      args: { ...leaseArgs(session), now },
    },
  ];
}
