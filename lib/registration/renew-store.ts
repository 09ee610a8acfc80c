import type { Statement } from '../db/database.ts';
import { admit, admitted, type Fence } from '../db/row-lock.ts';
import { settleHolders, withdrawChallengers } from '../holders/holders.ts';
import { spendAttestation } from '../verification/attestation.ts';
import type { Authorization } from './claim.ts';

/** A holder's new claim of its own address. */
export interface RenewedClaim {
  readonly id: number;
  readonly identifier: string;
  readonly proof: string;
  readonly proofKey: string;
  readonly attestation: Authorization;
}

/** One batch that renews the claim, as long as it holds its address, or changes nothing: the first is the verdict. */
export function renewClaim(
  { id, identifier, proof, proofKey, attestation }: RenewedClaim,
  fence: Fence,
  now: number,
): readonly Statement[] {
  const { signature } = attestation;
  const condition = admitted(fence);
  return [
    admit(fence, now, {
      sql: `EXISTS (SELECT 1 FROM registrations WHERE id = :id AND holds = 1)
        AND NOT EXISTS (SELECT 1 FROM attestation_uses WHERE signature = :signature)`,
      args: { id, signature },
    }),
    spendAttestation(attestation, condition),
    ...withdrawChallengers(identifier, now, condition),
    {
      sql: `UPDATE registrations SET proof = :proof, proof_key = :proof_key, registered_at = :now
        WHERE id = :id AND ${condition.sql}`,
      args: { ...condition.args, id, proof, proof_key: proofKey, now },
    },
    ...settleHolders({ sql: `id = :id`, args: { id } }, now),
  ];
}

/**
 * For the batch that writes a claim by another passkey of the holder's account: it ends the other claims on the
 * address, if that has not moved meanwhile.
 */
export function endOthers(
  { id, identifier }: Pick<RenewedClaim, 'id' | 'identifier'>,
  fence: Fence,
  now: number,
): readonly Statement[] {
  const { sql, args } = admitted(fence);
  const holds = `EXISTS (SELECT 1 FROM registrations WHERE id = :renewed AND holds = 1)`;
  return withdrawChallengers(identifier, now, { sql: `${sql} AND ${holds}`, args: { ...args, renewed: id } });
}
