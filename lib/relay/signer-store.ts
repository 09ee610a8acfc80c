import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';

/** An account that signs for the vault on one chain; the address is lower-case. */
export interface RelaySigner {
  readonly chainId: number;
  readonly address: string;
}

/** The stored state of a signer. */
export interface StoredSigner {
  /** The nonce of its next transaction: every lower one is spent or taken. Null until the chain has been asked. */
  readonly nextNonce: number | null;
  /** One of `RELAY_BLOCKERS`, or null. */
  readonly blocker: string | null;
}

/** Records the hash of a chain's first block, once. */
export function recordGenesis(chainId: number, genesis: string): Statement {
  return {
    sql: `INSERT INTO chains (chain_id, genesis) VALUES (:chain_id, :genesis) ON CONFLICT (chain_id) DO NOTHING`,
    args: { chain_id: chainId, genesis },
  };
}

/** The recorded first block of a chain, one row or none. */
export function selectGenesis(chainId: number): Statement {
  return { sql: `SELECT genesis FROM chains WHERE chain_id = :chain_id`, args: { chain_id: chainId } };
}

/** Records the signer with a next nonce of at least the chain's, so that no spent nonce is used again. */
export function raiseNonce({ chainId, address }: RelaySigner, chainNonce: number): Statement {
  return {
    sql: `INSERT INTO signers (chain_id, address, next_nonce) VALUES (:chain_id, :address, :nonce)
      ON CONFLICT (chain_id, address) DO UPDATE SET next_nonce = excluded.next_nonce
      WHERE next_nonce IS NULL OR next_nonce < excluded.next_nonce`,
    args: { chain_id: chainId, address, nonce: chainNonce },
  };
}

/**
 * Lowers a next nonce that the chain never reached, as long as it is `from` and no relay shows a nonce of `to` or later
 * as spent; `rowsAffected` is the verdict.
 */
export function lowerNonce({ chainId, address }: RelaySigner, { from, to }: NonceRange): Statement {
  return {
    sql: `UPDATE signers SET next_nonce = :to WHERE chain_id = :chain_id AND address = :signer AND next_nonce = :from
      AND NOT EXISTS (SELECT 1 FROM relays WHERE chain_id = :chain_id AND signer = :signer AND nonce >= :to
        AND status <> 'signed')`,
    args: { chain_id: chainId, signer: address, from, to },
  };
}

/** The nonces from `from` down to `to`. */
export interface NonceRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Counts an empty transaction for a nonce that no relay has, at most `max` in a rolling window that began after
 * `since`; the same nonce again is free. `rowsAffected` 1 means that it may be sent.
 */
export function countFill(
  { chainId, address }: RelaySigner,
  { nonce, now, since, max }: { readonly nonce: number; readonly now: number; readonly since: number; max: number },
): Statement {
  return {
    sql: `UPDATE signers SET
        fills = CASE WHEN filled_nonce IS :nonce THEN fills WHEN fills_since > :since THEN fills + 1 ELSE 1 END,
        fills_since = CASE WHEN fills_since > :since THEN fills_since ELSE :now END, filled_nonce = :nonce
      WHERE chain_id = :chain_id AND address = :signer
        AND (filled_nonce IS :nonce OR fills_since IS NULL OR fills_since <= :since OR fills < :max)`,
    args: { chain_id: chainId, signer: address, nonce, now, since, max },
  };
}

/** Spends the signer's next nonce, if the statement before it in the batch changed a row. */
export function spendNonceIfChanged({ chainId, address }: RelaySigner, nonce: number): Statement {
  return {
    sql: `UPDATE signers SET next_nonce = :nonce + 1 WHERE chain_id = :chain_id AND address = :signer
      AND changes() = 1`,
    args: { chain_id: chainId, signer: address, nonce },
  };
}

/** The signer's row: one or none. */
export function selectSigner({ chainId, address }: RelaySigner): Statement {
  return {
    sql: `SELECT next_nonce, trouble FROM signers WHERE chain_id = :chain_id AND address = :address`,
    args: { chain_id: chainId, address },
  };
}

/** A row of `selectSigner`, read. */
export function toStoredSigner(row: Row): StoredSigner {
  return {
    nextNonce: numberOf(row, 'next_nonce'),
    blocker: textOf(row, 'trouble'),
  };
}

/** Records the condition that blocks the signer; `rowsAffected` is 1 if it changed. */
export function recordBlocker({ chainId, address }: RelaySigner, blocker: string | null): Statement {
  return {
    sql: `INSERT INTO signers (chain_id, address, trouble) VALUES (:chain_id, :address, :trouble)
      ON CONFLICT (chain_id, address) DO UPDATE SET trouble = excluded.trouble WHERE trouble IS NOT excluded.trouble`,
    args: { chain_id: chainId, address, trouble: blocker },
  };
}
