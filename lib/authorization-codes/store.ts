import { isObject, parseJson } from '../base/json.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { DATABASE_NOW } from '../db/clocks.ts';
import { type Row, type Statement, textOf } from '../db/database.ts';
import { sweepSignIns } from './sign-ins-store.ts';

/** A code to store; digests are hex, times milliseconds. */
export interface NewAuthorizationCode {
  /** The digest of the registration's proof: it makes one code that can be exchanged. */
  readonly proof: string;
  readonly code: string;
  readonly app: string;
  readonly redirectUri: string;
  readonly challenge: string | null;
  /** The granted scopes, separated by spaces. */
  readonly scope: string;
  /** The `aud` of its access token; null where that is one of `/userinfo`. */
  readonly resource: string | null;
  readonly nonce: string | null;
  /** The digest of the request. */
  readonly request: string;
  /** By channel: the address that the person picked, null for none. */
  readonly picked: Readonly<Record<string, string | null>>;
  /** `hwk`, or `swk` of a key that is backed up (RFC 8176). */
  readonly amr: string;
  readonly credentialId: string;
  /** Empty where the account showed the key, not its registration. */
  readonly key: string;
  readonly did: string;
  readonly account: string;
  readonly verifiedAt: number;
  /** How long it is good, by the database's clock: another vault that exchanges it may have another time. */
  readonly lifeMs: number;
  /** Until when the row says that the proof, or the code, was used. */
  readonly keptUntil: number;
}

/**
 * Stores a code. The same proof again, for the same request, replaces the code while it is not used: an answer may have
 * been lost. `rowsAffected` 0 means that the proof was used, or serves another request.
 */
export function insertCode(code: NewAuthorizationCode): Statement {
  return {
    sql: `INSERT INTO authorization_codes (proof, code, app, redirect_uri, challenge, credential_id, key, did,
        account, verified_at, expires_at, kept_until, scope, resource, nonce, request, identifiers, amr)
      VALUES (:proof, :code, :app, :redirect_uri, :challenge, :credential_id, :key, :did, :account,
        :verified_at, ${DATABASE_NOW} + :life, :kept_until, :scope, :resource, :nonce, :request, :identifiers, :amr)
      ON CONFLICT (proof) DO UPDATE SET code = excluded.code, did = excluded.did,
        account = excluded.account, expires_at = excluded.expires_at, kept_until = excluded.kept_until,
        identifiers = excluded.identifiers
      WHERE used_at IS NULL AND app = excluded.app AND redirect_uri = excluded.redirect_uri
        AND challenge IS excluded.challenge AND request = excluded.request AND key = excluded.key`,
    args: {
      proof: code.proof,
      code: code.code,
      app: code.app,
      redirect_uri: code.redirectUri,
      challenge: code.challenge,
      credential_id: code.credentialId,
      key: code.key,
      did: code.did,
      account: code.account,
      verified_at: code.verifiedAt,
      life: code.lifeMs,
      kept_until: code.keptUntil,
      scope: code.scope,
      resource: code.resource,
      nonce: code.nonce,
      request: code.request,
      identifiers: JSON.stringify(code.picked),
      amr: code.amr,
    },
  };
}

/** The values that an exchange must match. */
export interface Exchange {
  /** The code's digest. */
  readonly code: string;
  readonly app: string;
  readonly redirectUri: string;
  readonly challenge: string | null;
}

/** An access token: its digest, null for one that is not the vault's to judge, and when it ends. */
export interface TokenGrant {
  readonly token: string | null;
  readonly until: number;
}

/** Uses a code up for a token; `rowsAffected` 1 is the right to its answer, which one exchange gets. */
export function useCode({ code, app, redirectUri, challenge }: Exchange, now: number, grant: TokenGrant): Statement {
  return {
    sql: `UPDATE authorization_codes SET used_at = :now, token = :token, token_until = :until,
        kept_until = max(kept_until, :until)
      WHERE code = :code AND app = :app AND redirect_uri = :redirect_uri AND challenge IS :challenge
        AND used_at IS NULL AND expires_at > ${DATABASE_NOW}`,
    args: {
      code,
      app,
      redirect_uri: redirectUri,
      challenge,
      now,
      token: grant.token,
      until: grant.until,
    },
  };
}

/** Ends the access token of a code that is exchanged again (RFC 6749 section 4.1.2), by the clock of any vault. */
export function endAccessToken(code: string): Statement {
  return {
    sql: `UPDATE authorization_codes SET token_until = 0 WHERE code = :code AND token_until > 0`,
    args: { code },
  };
}

/** The row of an access token that has not ended, one or none. */
export function selectToken(token: string, now: number): Statement {
  return { sql: `SELECT * FROM authorization_codes WHERE token = :token AND token_until > :now`, args: { token, now } };
}

/** A code's row, one or none. */
export function selectCode(code: string): Statement {
  const sql = `SELECT *, expires_at <= ${DATABASE_NOW} AS is_expired FROM authorization_codes WHERE code = :code`;
  return { sql, args: { code } };
}

/** A stored code. */
export interface IssuedCode extends Omit<NewAuthorizationCode, 'proof' | 'lifeMs' | 'keptUntil'> {
  readonly isExpired: boolean;
  readonly isUsed: boolean;
}

/** A row of `authorization_codes`, read. */
export function toCode(row: Row): IssuedCode {
  const text = (column: string) => textOf(row, column) ?? '';
  return {
    code: text('code'),
    app: text('app'),
    redirectUri: text('redirect_uri'),
    challenge: textOf(row, 'challenge'),
    scope: text('scope'),
    resource: textOf(row, 'resource'),
    nonce: textOf(row, 'nonce'),
    request: text('request'),
    picked: pickedOf(row),
    amr: text('amr'),
    credentialId: text('credential_id'),
    key: text('key'),
    did: text('did'),
    account: text('account'),
    verifiedAt: Number(row['verified_at']),
    isExpired: row['is_expired'] === 1,
    isUsed: row['used_at'] !== null,
  };
}

function pickedOf(row: Row): IssuedCode['picked'] {
  const picked = parseJson(textOf(row, 'identifiers') ?? '');
  return isObject<Record<string, string | null>>(picked) ? picked : {};
}

/**
 * Removes codes that neither a proof nor an exchange is compared with any more, and sign-ins that are older than so
 * many days.
 */
export function sweepAuthorizationCodes(now: number, keepSignInsDays: number): readonly Statement[] {
  const codes = {
    sql: `DELETE FROM authorization_codes WHERE proof IN
      (SELECT proof FROM authorization_codes WHERE kept_until <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
  return [codes, sweepSignIns(now, keepSignInsDays)];
}
