import type { Store } from '../db/database.ts';
import {
  type RelayKey,
  type RelayRow,
  selectRelay,
  selectRelayOf,
  selectRelayOfRegistration,
  selectRelaysOfRecovery,
  toRelay,
} from './store.ts';

// For registration and recovery, which queue relays and wait for them.
export { fullIn, type GasBudget, type QueuedCall, queueCall, selectGasRoom } from './call-store.ts';
export { queueRelay, withdrawRelay } from './change-store.ts';
export { type RelayKind, type RelayRole, type RelayRow, selectRelayOf, toRelay } from './store.ts';

type Reader = Pick<Store, 'read'>;

/** The live relay of the same identifier, DID, credential and account, so that a retry joins it. */
export async function findRelay(db: Reader, key: RelayKey): Promise<RelayRow | undefined> {
  const [row] = await db.read(selectRelayOf(key));
  return row && toRelay(row);
}

/** The relay of a registration, if the vault registers it. */
export async function findRelayOfRegistration(db: Reader, registrationId: number): Promise<RelayRow | undefined> {
  const [row] = await db.read(selectRelayOfRegistration(registrationId));
  return row && toRelay(row);
}

/** A relay by its id. Throws when there is none. */
export async function readRelay(db: Reader, id: number): Promise<RelayRow> {
  const [row] = await db.read(selectRelay(id));
  if (!row) throw new Error('a relay is missing');
  return toRelay(row);
}

/** The calls of a recovery, in the order in which they were queued. */
export async function findCalls(db: Reader, recoveryId: number): Promise<readonly RelayRow[]> {
  return (await db.read(selectRelaysOfRecovery(recoveryId))).map(toRelay);
}
