import { isoTime } from '../base/clock.ts';
import type { Row } from '../db/database.ts';
import { isErased } from '../identity/erasure.ts';
import { type Channel, maskIdentifier } from '../identity/identifier.ts';
import { type Registration, type RegistrationStatus, toRegistration } from './store.ts';

/** What a registration can be. */
export const REGISTRATION_STATUSES = ['submitted', 'confirmed', 'failed'] as const satisfies RegistrationStatus[];

/** A registration as the operator sees it. */
export type ShownRegistration = ReturnType<typeof shownOf>;

/** Rows of `registrations` as the operator sees them, but for those of the erased: what is counted may be more. */
export function shownRows(rows: readonly Row[], isWhole: boolean): ShownRegistration[] {
  return rows.filter((row) => !isErased(String(row['identifier']))).map((row) => shownOf(row, isWhole));
}

/** A row of `registrations` as the operator sees it; its identifier is masked unless `isWhole`. */
export function shownOf(row: Row, isWhole: boolean) {
  const one: Registration = toRegistration(row);
  const value = one.identifier.slice(one.identifier.indexOf(':') + 1);
  const channel = one.channel as Channel;
  return {
    id: one.id,
    app: String(row['app']),
    identifier: isWhole ? value : maskIdentifier({ channel, value }),
    channel,
    did: one.did,
    credentialId: one.credentialId,
    status: one.status,
    failure: one.failure,
    lost: one.lost,
    final: one.isFinal,
    holder: one.isHolder,
    proven: one.status === 'confirmed' && (one.proofKey !== null || one.isProvenByV1),
    txHash: one.txHash || null,
    blockNumber: one.blockNumber,
    smartAccount: one.controller,
    registeredAt: isoTime(one.registeredAt),
  };
}
