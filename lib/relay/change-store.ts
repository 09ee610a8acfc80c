import { CONFIRMATION_POLL_MAX_MS } from '../chain/receipts.ts';
import type { Condition, Statement } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';
import { registrationFailed, registrationMined, registrationReopened, registrationSent } from './registration-store.ts';
import { type RelaySigner, spendNonceIfChanged } from './signer-store.ts';
import type { MinedBlock, RelayAttempt, RelayRow } from './store.ts';

/** A relay of a registration to queue; registry, controller and DID hash are 0x-hex, lower-case. */
export interface QueuedRelay {
  readonly chainId: number;
  readonly registry: string;
  readonly controller: string;
  readonly didHash: string;
  /** The whole call, where it holds more than controller and DID hash. */
  readonly callData?: string | null;
  /** The network of the client that asked. */
  readonly network: string;
}

/** Queues a relay of the registration whose row meets the condition. */
export function queueRelay(relay: QueuedRelay, { sql, args }: Condition, now: number): Statement {
  const { chainId, registry, controller, didHash, callData = null, network } = relay;
  return {
    sql: `INSERT INTO relays (kind, role, registration_id, chain_id, target, call_data, controller, did_hash, network,
        created_at, next_check_at)
      SELECT 'registration', 'registrar', id, :relay_chain_id, :relay_registry, :relay_call_data, :relay_controller,
        :relay_did_hash, :relay_network, :now, :now FROM registrations
      WHERE ${sql}`,
    args: {
      ...args,
      relay_chain_id: chainId,
      relay_registry: registry,
      relay_call_data: callData,
      relay_controller: controller,
      relay_did_hash: didHash,
      relay_network: network,
      now,
    },
  };
}

/**
 * Gives a queued relay the signer's next nonce and stores its signed bytes. Changes nothing if the nonce is taken or
 * the relay was withdrawn: `rowsAffected` of the first is the verdict. Broadcast only afterwards, so that the same
 * bytes go out again after a crash.
 */
export function signRelay(
  relay: RelayRow,
  signer: RelaySigner,
  nonce: number,
  attempt: RelayAttempt,
  head: number,
): readonly Statement[] {
  const of = { chain_id: signer.chainId, signer: signer.address, nonce };
  return [
    {
      sql: `UPDATE relays SET status = 'signed', signer = :signer, nonce = :nonce, waiting_since = :head,
          tx_hash = :hash
        WHERE id = :id AND status = 'queued'
          AND EXISTS (SELECT 1 FROM signers WHERE chain_id = :chain_id AND address = :signer AND next_nonce = :nonce)`,
      args: { ...of, id: relay.id, head, hash: attempt.hash },
    },
    spendNonceIfChanged(signer, nonce),
    ...insertAttempt(relay, attempt),
  ];
}

/**
 * Stores another version of a signed relay's transaction with the same nonce; `rowsAffected` of the first is the
 * verdict.
 */
export function replaceAttempt(relay: RelayRow, attempt: RelayAttempt, head: number): readonly Statement[] {
  return [
    {
      sql: `UPDATE relays SET waiting_since = :head, tx_hash = :hash
        WHERE id = :id AND status = 'signed' AND nonce = :nonce`,
      args: { id: relay.id, nonce: relay.nonce, head, hash: attempt.hash },
    },
    ...insertAttempt(relay, attempt),
  ];
}

/**
 * Records that a block holds the transaction, which confirms a registration; of a queued relay, the transaction is
 * another's. `rowsAffected` of the first is 1 if it was not known, or not as final.
 */
export function mineRelay(relay: RelayRow, mined: MinedBlock, now: number): readonly Statement[] {
  const { txHash, blockHash, isFinal, nextCheckAt } = mined;
  return [
    {
      sql: `UPDATE relays SET tx_hash = :tx_hash, mined_hash = :hash, final = :final
        WHERE id = :id AND status IN ('queued', 'signed', 'mined') AND (mined_hash IS NOT :hash OR final <> :final)`,
      args: { id: relay.id, tx_hash: txHash, hash: blockHash, final: Number(isFinal) },
    },
    {
      sql: `UPDATE relays SET status = CASE WHEN :next IS NULL THEN 'confirmed' ELSE 'mined' END, next_check_at = :next,
          checks = checks + 1 WHERE id = :id AND status IN ('queued', 'signed', 'mined')`,
      args: { id: relay.id, next: nextCheckAt },
    },
    ...registrationMined(relay, mined, now),
  ];
}

/** Returns a mined relay to `signed`: a re-org removed its block. `rowsAffected` of the first is the verdict. */
export function reopenRelay(relay: RelayRow, head: number, now: number): readonly Statement[] {
  return [
    {
      sql: `UPDATE relays SET status = 'signed', next_check_at = :now, checks = 0, waiting_since = :head,
        mined_hash = NULL, final = 0
        WHERE id = :id AND status = 'mined'`,
      args: { id: relay.id, head, now },
    },
    ...registrationReopened(relay, now),
  ];
}

const CHECKS = dueQueue({ table: 'relays', at: 'next_check_at', longest: CONFIRMATION_POLL_MAX_MS });

/** Makes relays due that a clock which was off has put off. */
export function recallLateRelays(chainId: number, now: number): Statement {
  // All roles, so that the index leads to the times.
  const sql = `chain_id = :chain_id AND role IN ('registrar', 'guardian')`;
  return CHECKS.recallLate(now, { sql, args: { chain_id: chainId } });
}

/** Makes relays due whose nonce is no longer spent on the chain. */
export function recallRelays({ chainId, address }: RelaySigner, chainNonce: number, now: number): Statement {
  return {
    sql: `UPDATE relays SET next_check_at = :now
      WHERE chain_id = :chain_id AND signer = :signer AND nonce >= :nonce AND next_check_at > :now`,
    args: { chain_id: chainId, signer: address, nonce: chainNonce, now },
  };
}

/**
 * Queues a relay again whose nonce another transaction has spent; `rowsAffected` of the first is the verdict. The
 * transaction that was to free that nonce is forgotten: its receipt would end the relay a second time.
 */
export function requeueRelay(relay: RelayRow): readonly Statement[] {
  return [
    {
      sql: `UPDATE relays SET status = 'queued', signer = NULL, nonce = NULL, waiting_since = NULL
        WHERE id = :id AND status = 'signed' AND nonce = :nonce`,
      args: { id: relay.id, nonce: relay.nonce },
    },
    {
      sql: `DELETE FROM relay_attempts WHERE relay_id = :id AND kind = 'noop'
        AND EXISTS (SELECT 1 FROM relays WHERE id = :id AND status = 'queued')`,
      args: { id: relay.id },
    },
  ];
}

/**
 * Queues the signed relays again whose nonces are beyond the signer's next one, which `lowerNonce` has lowered:
 * `rowsAffected` says how many.
 */
export function requeueBeyond({ chainId, address }: RelaySigner, nextNonce: number): Statement {
  return {
    sql: `UPDATE relays SET status = 'queued', signer = NULL, nonce = NULL, waiting_since = NULL
      WHERE chain_id = :chain_id AND signer = :signer AND status = 'signed' AND nonce > :next
        AND EXISTS (SELECT 1 FROM signers WHERE chain_id = :chain_id AND address = :signer AND next_nonce = :next)`,
    args: { chain_id: chainId, signer: address, next: nextNonce },
  };
}

/**
 * Fails a relay that is unchanged since it was read, and its registration. `rowsAffected` of the first is the verdict.
 * After a turn that outlasts its lease another process may have signed it: the contract then refuses because of the
 * relay's own transaction.
 */
export function failRelay(relay: RelayRow, reason: string, now: number): readonly Statement[] {
  return [
    {
      sql: `UPDATE relays SET status = 'failed', failure = :reason, next_check_at = NULL
        WHERE id = :id AND status = :status AND nonce IS :nonce`,
      args: { id: relay.id, status: relay.status, nonce: relay.nonce, reason },
    },
    ...registrationFailed(relay, reason, now),
  ];
}

/** Withdraws a relay that has no nonce yet; `rowsAffected` is the verdict. */
export function withdrawRelay({ id }: RelayRow): Statement {
  return {
    sql: `UPDATE relays SET status = 'failed', failure = 'withdrawn', next_check_at = NULL WHERE id = :id
      AND status = 'queued'`,
    args: { id },
  };
}

/** Inserts the attempt, and makes its transaction the registration's, if the statement before changed its row. */
function insertAttempt(relay: RelayRow, attempt: RelayAttempt): readonly Statement[] {
  const { hash, raw, gas, maxFee, tip, kind } = attempt;
  return [
    {
      sql: `INSERT INTO relay_attempts (relay_id, hash, raw, gas, max_fee, tip, kind)
        SELECT :relay_id, :hash, :raw, :gas, :max_fee, :tip, :kind WHERE changes() = 1`,
      args: { relay_id: relay.id, hash, raw, gas, max_fee: maxFee, tip, kind },
    },
    ...registrationSent(relay, hash),
  ];
}
