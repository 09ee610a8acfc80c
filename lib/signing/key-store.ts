import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';
import type { SigningAlg } from './sealed-key.ts';

/** A key as it is stored; times are milliseconds. */
export interface StoredKey {
  /** The thumbprint of the public half (RFC 7638). */
  readonly kid: string;
  readonly alg: SigningAlg;
  /** A JWK (RFC 7517), as JSON. */
  readonly public: string;
  /** The private half, sealed. */
  readonly sealed: string;
  readonly madeAt: number;
  readonly signsFrom: number;
  /** When it is published no more; null while no other one has followed it. */
  readonly endsAt: number | null;
}

/** The keys that are published. */
export function selectKeys(now: number): Statement {
  return { sql: `SELECT * FROM signing_keys WHERE ends_at IS NULL OR ends_at > :now`, args: { now } };
}

/** A row of `signing_keys`, read. */
export function toStoredKey(row: Row): StoredKey {
  const text = (column: string) => textOf(row, column) ?? '';
  return {
    kid: text('kid'),
    alg: text('alg') as SigningAlg,
    public: text('public'),
    sealed: text('sealed'),
    madeAt: Number(row['made_at']),
    signsFrom: Number(row['signs_from']),
    endsAt: numberOf(row, 'ends_at'),
  };
}

/**
 * Stores a key, unless one of its algorithm was made after `newestMadeAt`, the newest that the caller has seen: only
 * one of two concurrent calls stores its key.
 */
export function insertKey(key: StoredKey, newestMadeAt: number): Statement {
  return {
    sql: `INSERT INTO signing_keys (kid, alg, public, sealed, made_at, signs_from)
      SELECT :kid, :alg, :public, :sealed, :made_at, :signs_from
      WHERE NOT EXISTS (SELECT 1 FROM signing_keys WHERE alg = :alg AND made_at > :newest)`,
    args: {
      kid: key.kid,
      alg: key.alg,
      public: key.public,
      sealed: key.sealed,
      made_at: Math.max(key.madeAt, newestMadeAt + 1),
      signs_from: key.signsFrom,
      newest: newestMadeAt,
    },
  };
}

/** Has the keys of its algorithm before a stored one end, none later than it would anyway. */
export function endKeysBefore({ kid, alg }: Pick<StoredKey, 'kid' | 'alg'>, endsAt: number): Statement {
  return {
    sql: `UPDATE signing_keys SET ends_at = min(coalesce(ends_at, :ends_at), :ends_at)
      WHERE alg = :alg AND kid <> :kid AND EXISTS (SELECT 1 FROM signing_keys WHERE kid = :kid)`,
    args: { kid, alg, ends_at: endsAt },
  };
}

/** Removes keys that are published no more. */
export function sweepKeys(now: number): Statement {
  return { sql: `DELETE FROM signing_keys WHERE ends_at <= :now`, args: { now } };
}
