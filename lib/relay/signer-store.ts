import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';

/** An account that signs for the vault on one chain; the address is lower-case. */
export interface Signer {
  readonly chainId: number;
  readonly address: string;
}

/** What is stored of a signer. */
export interface SignerState {
  /** The nonce of its next transaction, every lower one being spent or taken; null until the chain was asked. */
  readonly nextNonce: number | null;
  /** Why it does not get on, null when it does. */
  readonly trouble: string | null;
}

/** Notes a chain's first block, once. */
export function noteGenesis(chainId: number, genesis: string): Statement {
  return {
    sql: `INSERT INTO chains (chain_id, genesis) VALUES (:chain_id, :genesis) ON CONFLICT (chain_id) DO NOTHING`,
    args: { chain_id: chainId, genesis },
  };
}

/** The first block that was noted for a chain, one row or none. */
export function selectGenesis(chainId: number): Statement {
  return { sql: `SELECT genesis FROM chains WHERE chain_id = :chain_id`, args: { chain_id: chainId } };
}

/** Makes the signer known, its next nonce at least the chain's: never one that is already spent. */
export function raiseNonce({ chainId, address }: Signer, chainNonce: number): Statement {
  return {
    sql: `INSERT INTO signers (chain_id, address, next_nonce) VALUES (:chain_id, :address, :nonce)
      ON CONFLICT (chain_id, address) DO UPDATE SET next_nonce = excluded.next_nonce
      WHERE next_nonce IS NULL OR next_nonce < excluded.next_nonce`,
    args: { chain_id: chainId, address, nonce: chainNonce },
  };
}

/** Gives the signer's next nonce away, if the statement before it in the batch changed a row. */
export function spendNonceIfChanged({ chainId, address }: Signer, nonce: number): Statement {
  return {
    sql: `UPDATE signers SET next_nonce = :nonce + 1 WHERE chain_id = :chain_id AND address = :signer AND changes() = 1`,
    args: { chain_id: chainId, signer: address, nonce },
  };
}

/** What is stored of the signer, one row or none. */
export function selectSigner({ chainId, address }: Signer): Statement {
  return {
    sql: `SELECT next_nonce, trouble FROM signers WHERE chain_id = :chain_id AND address = :address`,
    args: { chain_id: chainId, address },
  };
}

/** A row of `selectSigner`, read. */
export function toSignerState(row: Row): SignerState {
  return {
    nextNonce: numberOf(row, 'next_nonce'),
    trouble: textOf(row, 'trouble'),
  };
}

/** Notes what keeps the signer from getting on; `rowsAffected` tells whether that is news. */
export function noteTrouble({ chainId, address }: Signer, trouble: string | null): Statement {
  return {
    sql: `INSERT INTO signers (chain_id, address, trouble) VALUES (:chain_id, :address, :trouble)
      ON CONFLICT (chain_id, address) DO UPDATE SET trouble = excluded.trouble WHERE trouble IS NOT excluded.trouble`,
    args: { chain_id: chainId, address, trouble },
  };
}
