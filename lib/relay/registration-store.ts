import type { Condition, Statement } from '../db/database.ts';
import { emitEvents, emitRegistrationsFailed, registrationRows } from '../events/emit.ts';
import { beginLooks, settleHolders } from '../holders/holders.ts';
import type { MinedBlock, RelayRow } from './store.ts';

// The effect of a relay's change on its registration, in the same batch. Empty without a registration.

/** Makes the transaction the registration's, if the statement before changed a row. */
export function registrationSent({ registrationId }: RelayRow, txHash: string): readonly Statement[] {
  if (registrationId === null) return [];
  return [
    {
      sql: `UPDATE registrations SET tx_hash = :hash WHERE id = :registration_id AND changes() = 1`,
      args: { registration_id: registrationId, hash: txHash },
    },
  ];
}

/** Confirms the registration by the block that holds its transaction. */
export function registrationMined(relay: RelayRow, mined: MinedBlock, now: number): readonly Statement[] {
  const { registrationId, controller } = relay;
  if (registrationId === null) return [];
  const { txHash, block, blockHash, isFinal, nextCheckAt } = mined;
  return [
    emitConfirmed(registrationId, now, txHash),
    {
      sql: `UPDATE registrations SET status = 'confirmed', tx_hash = :tx_hash, block_number = :block,
        mined_block = :block, controller = CASE WHEN mined_hash IS :hash THEN controller ELSE :controller END,
        mined_hash = :hash, final = :final, looked_at = CASE :final WHEN 1 THEN :now END
        WHERE id = :registration_id AND status <> 'failed' AND (mined_hash IS NOT :hash OR final <> :final)`,
      args: {
        registration_id: registrationId,
        tx_hash: txHash,
        block,
        hash: blockHash,
        controller,
        final: Number(isFinal),
        now,
      },
    },
    ...settleHolders(byId(registrationId), now),
    ...(nextCheckAt === null ? [beginLooks(byId(registrationId), now)] : []),
  ];
}

/** Opens the registration again if the statement before, which reopened its relay, changed a row. */
export function registrationReopened({ registrationId }: RelayRow, now: number): readonly Statement[] {
  if (registrationId === null) return [];
  return [
    {
      sql: `UPDATE registrations SET status = 'submitted', block_number = NULL, mined_block = NULL, mined_hash = NULL,
        controller = NULL, final = 0, looked_at = NULL
        WHERE id = :registration_id AND status = 'confirmed' AND changes() = 1`,
      args: { registration_id: registrationId },
    },
    emitEvents(
      [registrationRows('registration.submitted', `FROM registrations WHERE id = :registration_id AND changes() = 1`)],
      { registration_id: registrationId, now },
    ),
    ...settleHolders(byId(registrationId), now),
  ];
}

/** Fails the registration if its relay has failed; its identifier goes to the rightful holder then, or is free. */
export function registrationFailed(
  { id, registrationId }: RelayRow,
  reason: string,
  now: number,
): readonly Statement[] {
  if (registrationId === null) return [];
  const isFailed = `EXISTS (SELECT 1 FROM relays WHERE id = :relay_id AND status = 'failed')`;
  const failing = `id = :registration_id AND status <> 'failed' AND ${isFailed}`;
  const args = { relay_id: id, registration_id: registrationId, reason };
  return [
    emitRegistrationsFailed(`FROM registrations WHERE ${failing}`, ':reason', { ...args, now }),
    {
      sql: `UPDATE registrations SET status = 'failed', failure = :reason, block_number = NULL,
        mined_block = NULL, mined_hash = NULL, controller = NULL, final = 0, looked_at = NULL
        WHERE ${failing}`,
      args,
    },
    ...settleHolders(byId(registrationId), now),
  ];
}

/** The registration, whose holders are settled after each of its changes. */
function byId(registrationId: number): Condition {
  return { sql: `id = :registration_id`, args: { registration_id: registrationId } };
}

/** The event `registration.confirmed` with the mined transaction, unless it was confirmed before. */
function emitConfirmed(registrationId: number, now: number, txHash: string): Statement {
  const from = `FROM registrations WHERE id = :registration_id AND status = 'submitted'`;
  const rows = registrationRows('registration.confirmed', from, { txHash: ':tx_hash' });
  return emitEvents([rows], { registration_id: registrationId, tx_hash: txHash, now });
}
