import type { Condition, Statement } from '../db/database.ts';
import { emitEvents, emitRegistrationsFailed, registrationRows } from '../events/emit.ts';
import { settleHolders } from '../holders/holders.ts';
import { type RelaySigner, spendNonceIfChanged } from './signer-store.ts';
import type { RelayAttempt, RelayRow } from './store.ts';

/** A relay to queue; registry, controller and DID hash are 0x-hex, lower-case. */
export interface QueuedRelay {
  readonly chainId: number;
  readonly registry: string;
  readonly controller: string;
  readonly didHash: string;
  /** The network of the client that asked. */
  readonly network: string;
}

/** Queues a relay of the registration for whose row the condition is true. */
export function queueRelay(relay: QueuedRelay, { sql, args }: Condition, now: number): Statement {
  const { chainId, registry, controller, didHash, network } = relay;
  return {
    sql: `INSERT INTO relays (registration_id, chain_id, registry, controller, did_hash, network, created_at,
        next_check_at)
      SELECT id, :relay_chain_id, :relay_registry, :relay_controller, :relay_did_hash, :relay_network, :now, :now FROM registrations
      WHERE ${sql}`,
    args: {
      ...args,
      relay_chain_id: chainId,
      relay_registry: registry,
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
      sql: `UPDATE relays SET status = 'signed', signer = :signer, nonce = :nonce, waiting_since = :head
        WHERE id = :id AND status = 'queued'
          AND EXISTS (SELECT 1 FROM signers WHERE chain_id = :chain_id AND address = :signer AND next_nonce = :nonce)`,
      args: { ...of, id: relay.id, head },
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
      sql: `UPDATE relays SET waiting_since = :head WHERE id = :id AND status = 'signed' AND nonce = :nonce`,
      args: { id: relay.id, nonce: relay.nonce, head },
    },
    ...insertAttempt(relay, attempt),
  ];
}

/** The block that holds a relay's transaction; `nextCheckAt` null ends the watch. */
export interface MinedBlock {
  readonly txHash: string;
  readonly block: number;
  readonly blockHash: string;
  readonly isFinal: boolean;
  readonly nextCheckAt: number | null;
}

/**
 * Records that a block holds the transaction, which confirms the registration. `rowsAffected` of the third is 1 if it
 * was not known, or not as final.
 */
export function mineRelay(
  relay: RelayRow,
  { txHash, block, blockHash, isFinal, nextCheckAt }: MinedBlock,
  now: number,
): readonly Statement[] {
  return [
    emitConfirmed(relay, now, txHash),
    {
      sql: `UPDATE relays SET status = CASE WHEN :next IS NULL THEN 'confirmed' ELSE 'mined' END, next_check_at = :next,
          checks = checks + 1 WHERE id = :id AND status IN ('signed', 'mined')`,
      args: { id: relay.id, next: nextCheckAt },
    },
    {
      sql: `UPDATE registrations SET status = 'confirmed', tx_hash = :tx_hash, block_number = :block,
        mined_block = :block, mined_hash = :hash, controller = :controller, final = :final
        WHERE id = :registration_id AND status <> 'failed' AND (mined_hash IS NOT :hash OR final <> :final)`,
      args: {
        registration_id: relay.registrationId,
        tx_hash: txHash,
        block,
        hash: blockHash,
        controller: relay.controller,
        final: Number(isFinal),
      },
    },
    ...settleHolders(registrationOf(relay), now),
  ];
}

/**
 * Ends a relay whose DID the registry has with the right controller, although none of its own transactions is known
 * to have registered it.
 */
export function confirmRelay(relay: RelayRow, now: number): readonly Statement[] {
  return [
    emitConfirmed(relay, now, relay.txHash),
    {
      sql: `UPDATE relays SET status = 'confirmed', next_check_at = NULL WHERE id = :id AND next_check_at IS NOT NULL`,
      args: { id: relay.id },
    },
    {
      sql: `UPDATE registrations SET status = 'confirmed', controller = :controller, final = 1
        WHERE id = :registration_id AND status <> 'failed'`,
      args: { registration_id: relay.registrationId, controller: relay.controller },
    },
    ...settleHolders(registrationOf(relay), now),
  ];
}

/** Returns a mined relay to `signed`: a re-org removed its block. */
export function reopenRelay(relay: RelayRow, head: number, now: number): readonly Statement[] {
  return [
    {
      sql: `UPDATE relays SET status = 'signed', next_check_at = :now, checks = 0, waiting_since = :head
        WHERE id = :id AND status = 'mined'`,
      args: { id: relay.id, head, now },
    },
    {
      sql: `UPDATE registrations SET status = 'submitted', block_number = NULL, mined_block = NULL, mined_hash = NULL,
        controller = NULL, final = 0
        WHERE id = :registration_id AND status = 'confirmed' AND changes() = 1`,
      args: { registration_id: relay.registrationId },
    },
    emitEvents(
      [registrationRows('registration.submitted', `FROM registrations WHERE id = :registration_id AND changes() = 1`)],
      { registration_id: relay.registrationId, now },
    ),
    ...settleHolders(registrationOf(relay), now),
  ];
}

/** Makes relays due whose nonce the chain no longer has as spent. */
export function recallRelays({ chainId, address }: RelaySigner, chainNonce: number, now: number): Statement {
  return {
    sql: `UPDATE relays SET next_check_at = :now
      WHERE chain_id = :chain_id AND signer = :signer AND nonce >= :nonce AND next_check_at > :now`,
    args: { chain_id: chainId, signer: address, nonce: chainNonce, now },
  };
}

/** Queues a relay again whose nonce another transaction has spent. */
export function requeueRelay(relay: RelayRow): Statement {
  return {
    sql: `UPDATE relays SET status = 'queued', signer = NULL, nonce = NULL, waiting_since = NULL
      WHERE id = :id AND status = 'signed' AND nonce = :nonce`,
    args: { id: relay.id, nonce: relay.nonce },
  };
}

/**
 * Fails a relay and its registration; what it held goes to whose it is then, or is free. `rowsAffected` of the third is
 * the verdict.
 */
export function failRelay(relay: RelayRow, reason: string, now: number): readonly Statement[] {
  return [
    emitRegistrationsFailed(`FROM registrations WHERE id = :registration_id AND status <> 'failed'`, ':reason', {
      registration_id: relay.registrationId,
      reason,
      now,
    }),
    {
      sql: `UPDATE registrations SET status = 'failed', failure = :reason, block_number = NULL,
        mined_block = NULL, mined_hash = NULL, controller = NULL, final = 0
        WHERE id = :registration_id AND status <> 'failed'`,
      args: { registration_id: relay.registrationId, reason },
    },
    {
      sql: `UPDATE relays SET status = 'failed', failure = :reason, next_check_at = NULL
        WHERE id = :id AND next_check_at IS NOT NULL`,
      args: { id: relay.id, reason },
    },
    ...settleHolders(registrationOf(relay), now),
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

/** The registration of a relay, whose holders are settled after each of its changes. */
function registrationOf({ registrationId }: RelayRow): Condition {
  return { sql: `id = :registration_id`, args: { registration_id: registrationId } };
}

/** The event `registration.confirmed` with the mined transaction, unless it was confirmed before. */
function emitConfirmed({ registrationId }: RelayRow, now: number, txHash: string): Statement {
  const from = `FROM registrations WHERE id = :registration_id AND status = 'submitted'`;
  const rows = registrationRows('registration.confirmed', from, { txHash: ':tx_hash' });
  return emitEvents([rows], { registration_id: registrationId, tx_hash: txHash, now });
}

/**
 * Inserts the attempt and makes its transaction the registration's, both only if the statement before changed its
 * row.
 */
function insertAttempt(relay: RelayRow, attempt: RelayAttempt): readonly Statement[] {
  const { hash, raw, gas, maxFee, tip, kind } = attempt;
  return [
    {
      sql: `INSERT INTO relay_attempts (relay_id, hash, raw, gas, max_fee, tip, kind)
        SELECT :relay_id, :hash, :raw, :gas, :max_fee, :tip, :kind WHERE changes() = 1`,
      args: { relay_id: relay.id, hash, raw, gas, max_fee: maxFee, tip, kind },
    },
    {
      sql: `UPDATE registrations SET tx_hash = :hash WHERE id = :registration_id AND changes() = 1`,
      args: { registration_id: relay.registrationId, hash },
    },
  ];
}
