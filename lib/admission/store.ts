import { DAY_MS } from '../base/clock.ts';
import type { ErrorCode } from '../base/error.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { argsIn, type Condition, numberOf, type Row, type Statement, textOf, type Value } from '../db/database.ts';

/**
 * The terms of a new person's admission: an invite, or a refusal that no invite can lift. Registered people need
 * neither.
 */
export interface AdmissionTerms {
  /** The error for a person who is refused. */
  readonly refusal: Extract<
    ErrorCode,
    'mail_domain_refused' | 'registration_closed' | 'invite_required' | 'invite_invalid'
  >;
  /** The digest of the invite, null where none would help. */
  readonly invite: string | null;
  /** Stands for the identifier among the uses of the invite, so that they hold no identifier. */
  readonly holder: string;
}

/** How long an invite is kept after its end. */
export const INVITE_KEEP_MS = 30 * DAY_MS;

const USES = `(SELECT count(*) FROM invite_uses WHERE invite_id = invites.id)`;

const IS_LIVE = `revoked_at IS NULL AND expires_at > :now`;

/** The invite, while it lets this identifier in: an identifier that has used it may come again. */
const INVITE = `FROM invites WHERE digest = :invite AND ${IS_LIVE}
  AND (identifier IS NULL OR identifier = :identifier) AND (app IS NULL OR app = :app)
  AND (${USES} < uses OR EXISTS (SELECT 1 FROM invite_uses WHERE invite_id = invites.id AND holder = :holder))`;

const REGISTERED = `EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND holds = 1)`;

/**
 * SQL that is true of an identifier that may be registered on some terms: it is registered, or invited. Needs
 * `admissionArgs`, `:identifier`, `:app` and `:now`.
 */
export const MAY_REGISTER = `(${REGISTERED} OR EXISTS (SELECT 1 ${INVITE}))`;

/** The arguments of an admission. */
export function admissionArgs(admission: AdmissionTerms | null): { invite: string | null; holder: string } {
  return { invite: admission?.invite ?? null, holder: admission?.holder ?? '' };
}

/** A person and the identifier to register, at a time in milliseconds. */
interface Registering {
  readonly identifier: string;
  readonly app: string;
  readonly now: number;
}

/** One row, whose `may_register` is 1 if the identifier may be registered. */
export function selectMayRegister(admission: AdmissionTerms, { identifier, app, now }: Registering): Statement {
  const sql = `SELECT ${MAY_REGISTER} AS may_register`;
  return { sql, args: { ...admissionArgs(admission), identifier, app, now } };
}

/**
 * Spends one use of the invite for the identifier, if the condition holds. An identifier that has used it before, or is
 * registered, spends none. Only registrations spend: sessions are opened for addresses that nobody has proven.
 */
export function spendInvite(admission: AdmissionTerms, registering: Registering, { sql, args }: Condition): Statement {
  const text = `INSERT OR IGNORE INTO invite_uses (invite_id, holder, at)
    SELECT id, :holder, :now ${INVITE} AND NOT ${REGISTERED} AND ${sql}`;
  const all: Record<string, Value> = { ...args, ...admissionArgs(admission), ...registering };
  return { sql: text, args: argsIn(all, text) };
}

/** An invite to write; times are milliseconds, null is any. */
export interface NewInvite {
  readonly digest: string;
  readonly app: string | null;
  readonly identifier: string | null;
  readonly uses: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Writes an invite. */
export function insertInvite({ digest, app, identifier, uses, createdAt, expiresAt }: NewInvite): Statement {
  return {
    sql: `INSERT INTO invites (digest, app, identifier, uses, created_at, expires_at)
      VALUES (:digest, :app, :identifier, :uses, :created_at, :expires_at)`,
    args: { digest, app, identifier, uses, created_at: createdAt, expires_at: expiresAt },
  };
}

const COLUMNS = `id, app, identifier, uses, ${USES} AS used, created_at, expires_at, revoked_at`;

/** The invite with this digest. */
export function selectInviteBy(digest: string): Statement {
  return { sql: `SELECT ${COLUMNS} FROM invites WHERE digest = :digest`, args: { digest } };
}

/** The invite with this id. */
export function selectInvite(id: number): Statement {
  return { sql: `SELECT ${COLUMNS} FROM invites WHERE id = :id`, args: { id } };
}

/** Up to `limit` invites with ids below `before`, the newest first. */
export function selectInvites(before: number, limit: number): Statement {
  return {
    sql: `SELECT ${COLUMNS} FROM invites WHERE id < :before ORDER BY id DESC LIMIT :limit`,
    args: { before, limit },
  };
}

/** Revokes an invite that has not ended; `rowsAffected` is the verdict. */
export function revokeInvite(id: number, now: number): Statement {
  return { sql: `UPDATE invites SET revoked_at = :now WHERE id = :id AND ${IS_LIVE}`, args: { id, now } };
}

/** An invite as it is stored. */
export interface Invite extends Omit<NewInvite, 'digest'> {
  readonly id: number;
  readonly used: number;
  readonly revokedAt: number | null;
}

/** Reads a row of an invite. */
export function toInvite(row: Row): Invite {
  return {
    id: Number(row['id']),
    app: textOf(row, 'app'),
    identifier: textOf(row, 'identifier'),
    uses: Number(row['uses']),
    used: Number(row['used']),
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
    revokedAt: numberOf(row, 'revoked_at'),
  };
}

/** Removes invites a month after their end, their uses first. */
export function sweepInvites(now: number): readonly Statement[] {
  const ended = `SELECT id FROM invites WHERE expires_at <= :before ORDER BY expires_at, id LIMIT ${SWEEP_ROWS_MAX}`;
  const args = { before: now - INVITE_KEEP_MS };
  return [
    {
      sql: `DELETE FROM invite_uses WHERE (invite_id, holder) IN
        (SELECT invite_id, holder FROM invite_uses WHERE invite_id IN (${ended}) LIMIT ${SWEEP_ROWS_MAX})`,
      args,
    },
    {
      sql: `DELETE FROM invites WHERE id IN (${ended})
        AND NOT EXISTS (SELECT 1 FROM invite_uses WHERE invite_id = invites.id)`,
      args,
    },
  ];
}
