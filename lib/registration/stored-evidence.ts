import type { Assertion } from '../identity/passkey.ts';
import type { Claim } from './evidence.ts';
import { storedProof } from './proof.ts';
import type { Registration } from './store.ts';

/** What a stored registration is evidence of; whether its DID names the controller is left to the look-up. */
export function evidenceOf(one: Registration): Claim {
  return {
    id: one.id,
    channel: one.channel as Claim['channel'],
    identifier: one.identifier,
    did: one.did,
    didHash: one.didHash,
    credentialId: one.credentialId,
    txHash: one.txHash,
    isRegistered: one.status === 'confirmed',
    isFinal: one.isFinal,
    isFailed: one.status === 'failed',
    isLost: one.lost !== null,
    proof: assertionText(storedProof(one.proof)?.assertion),
    proofKey: one.proofKey,
    controllerKeys: one.controllerKey === null ? null : [one.controllerKey],
    // Only a look-up depends on it, which reads it from its own table.
    removedKeys: [],
    namesController: false,
    isActive: one.isActive,
  };
}

/** The text by which two proofs are the same. */
export function assertionText(assertion: Assertion | undefined): string | null {
  return assertion === undefined ? null : JSON.stringify(Object.values(assertion));
}
