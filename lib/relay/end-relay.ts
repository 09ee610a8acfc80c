import type { RegistrationPlace } from '../chain/registration-event.ts';
import { failRelay, mineRelay } from './change-store.ts';
import { findDone, isRegistryMissing } from './proof.ts';
import type { RelayRow } from './store.ts';
import { type Relayer, recordOutcome } from './transactions.ts';

/**
 * Ends a relay that its contract refuses: confirmed where the registry's event shows its work as done, failed where the
 * registry does not have it. Open while neither can be said. Returns whether it has ended. Throws 502 `rpc_error`.
 */
export async function endRefused(relayer: Relayer, relay: RelayRow, refusal: string): Promise<boolean> {
  const done = await findDone(relayer, relay);
  if (done !== 'no') return endDone(relayer, relay, done, { refusal });
  if (await isRegistryMissing(relayer, relay)) return false;
  const [ended] = await relayer.db.write(...failRelay(relay, refusal, relayer.clock.now()));
  if (ended?.rowsAffected !== 1) return false;
  recordOutcome(relayer, relay, 'failed', { refusal });
  return true;
}

/** Confirms a relay by the final event of its registration, by any sender; false without one. */
export async function endDone(
  relayer: Relayer,
  relay: RelayRow,
  done: RegistrationPlace | 'unproven',
  why: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  if (done === 'unproven') return false;
  const mined = { ...done, isFinal: true, nextCheckAt: null };
  const [ended] = await relayer.db.write(...mineRelay(relay, mined, relayer.clock.now()));
  if (ended?.rowsAffected !== 1) return false;
  recordOutcome(relayer, relay, 'confirmed', { ...why, tx: done.txHash });
  return true;
}
