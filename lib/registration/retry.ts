import type { Channel } from '../identity/identifier.ts';
import type { Assertion } from '../identity/passkey.ts';
import { storedProof } from './proof.ts';
import type { Registration } from './store.ts';

// Whether a request only repeats a stored claim (decision 0016). Then it gets the same reply, and nothing is written.

/** A claim that is asked for; one of an email address or a phone number has a valid attestation. */
export interface AskedClaim {
  readonly channel: Channel;
  readonly identifier: string;
  readonly did: string;
  readonly credentialId: string;
  readonly txHash: string;
  /** The text of the passkey proof that it brings; null without one. */
  readonly proof: string | null;
  /** The key of the proof, if the request names it. */
  readonly key: string | null;
}

/** A stored claim. The order of `id` is the order of the requests. */
export interface StoredClaim extends Omit<AskedClaim, 'key'> {
  readonly id: number;
  /** The key with which the proof was verified; null until then. */
  readonly proofKey: string | null;
  /** It failed, for good: it holds nothing. */
  readonly isFailed: boolean;
  /** A handle's claim whose alias led to another DID in a final block: it keeps its DID and its credential. */
  readonly isLost: boolean;
  /** The block of its event is final. */
  readonly isFinal: boolean;
  /** Whether it holds its identifier. */
  readonly isHolder: boolean;
  /** It is final, and waits for an address whose holder has a passkey. */
  readonly isWaiting: boolean;
}

/** The stored claim that a request is compared with. */
export function storedClaim(one: Registration): StoredClaim {
  const { id, identifier, did, credentialId, txHash, proofKey, isFinal, isHolder, isWaiting } = one;
  return {
    ...{ id, identifier, did, credentialId, txHash, proofKey, isFinal, isHolder, isWaiting },
    channel: one.channel as Channel,
    proof: assertionText(storedProof(one.proof)?.assertion),
    isFailed: one.status === 'failed',
    isLost: one.lost !== null,
  };
}

/** The text by which two proofs are compared. */
export function assertionText(assertion: Assertion | undefined): string | null {
  return assertion === undefined ? null : JSON.stringify(Object.values(assertion));
}

/**
 * Whether a request only repeats this stored claim, one of the claims of the identifier. A request that brings a proof
 * for a claim without one, or a proof by another key, asks for more. So does one for a claim that another has displaced
 * or may displace.
 */
export function isRetry(request: AskedClaim, stored: StoredClaim, ofIdentifier: readonly StoredClaim[]): boolean {
  const isSame =
    !stored.isFailed &&
    !stored.isLost &&
    stored.identifier === request.identifier &&
    stored.did === request.did &&
    stored.credentialId === request.credentialId &&
    stored.txHash === request.txHash;
  return isSame && provesAsMuch(stored, request) && standsFor(stored, request, ofIdentifier);
}

/** Anyone can copy the claim of a handle with a false proof: until it is verified, nobody else can repeat it. */
function provesAsMuch(stored: StoredClaim, { channel, proof, key }: AskedClaim): boolean {
  if (key !== null && stored.proofKey !== null && stored.proofKey !== key) return false;
  if (proof === null || stored.proofKey !== null || stored.proof === proof) return true;
  return stored.proof !== null && channel !== 'handle';
}

/** Whether the stored claim has, or will get, the identifier that the request asks for. */
function standsFor(stored: StoredClaim, { channel, proof }: AskedClaim, ofIdentifier: readonly StoredClaim[]): boolean {
  if (channel === 'handle') return true;
  const isOlder = ofIdentifier.some(
    ({ id, did, isFailed, isLost }) => id > stored.id && did !== stored.did && !isFailed && !isLost,
  );
  if (proof !== null && proof !== stored.proof) return !isOlder;
  const holder = ofIdentifier.find(({ isHolder }) => isHolder);
  return holder?.did === stored.did || isChallenger(stored, holder);
}

/** Whether the claim may still take its identifier: it brought a proof, and waits for the final block, or its time. */
export function isChallenger(
  claim: Omit<StoredClaim, 'isHolder'>,
  holder: Pick<StoredClaim, 'id'> | undefined,
): boolean {
  const mayDisplace = claim.channel !== 'handle' && claim.proof !== null && (!claim.isFinal || claim.isWaiting);
  return mayDisplace && !claim.isFailed && !claim.isLost && (holder === undefined || claim.id > holder.id);
}
