import type { Proofs } from '../../../lib/registration/lookup.ts';
import * as running from '../../../lib/registration/retry.ts';

// The rules of decision 0016 as pure functions: who holds an identifier and a credential, and what a look-up may say of
// them, by the evidence for each claim. The vault follows the SQL of `lib/holders/store.ts`,
// `lib/registration/claim-store.ts` and `lookup-store.ts`; the tests hold it against this model.

/** A claim with the evidence for it. */
export interface Claim extends Omit<running.StoredClaim, 'isHolder'> {
  readonly didHash: string;
  /** The registry's event is in a canonical block. */
  readonly isRegistered: boolean;
  /** The keys of the registered controller; null if none is known. */
  readonly controllerKeys: readonly string[] | null;
  /** The keys that were removed from it, by a final block; also those of an account that is to be the controller. */
  readonly removedKeys: readonly string[];
  /** The DID's text names the registered controller; and the DID was not deactivated. */
  readonly namesController: boolean;
  readonly isActive: boolean;
}

/** The claim that holds an identifier, of all claims of it. */
export function holderOf(claims: readonly Claim[]): Claim | undefined {
  const live = inOrder(claims).filter((claim) => !claim.isFailed && !claim.isLost);
  return live.findLast(displacesIdentifier) ?? live[0];
}

/** A final, proven claim of an email address or a phone number displaces every earlier one. */
function displacesIdentifier(claim: Claim): boolean {
  return claim.channel !== 'handle' && isProvenFinal(claim);
}

/** Where a credential leads: one row for each key that signed for it, and one for the claims without a key. */
export interface CredentialRow {
  /** Null: no proof named the credential. */
  readonly key: string | null;
  /** The claim that the row shows. */
  readonly claim: Claim;
  /** The id of the earliest claim behind the row: of two rows, the older one answers. */
  readonly since: number;
}

/** The rows of a credential, of all claims of it, the oldest first. A removed key has none. */
export function credentialRows(claims: readonly Claim[]): readonly CredentialRow[] {
  const live = inOrder(claims).filter(({ isFailed }) => !isFailed);
  const signed = live.filter(isProvenFinal);
  const groups = new Map<string, { readonly key: string | null; readonly claims: Claim[] }>();
  for (const claim of live) {
    const key = claim.proofKey ?? signerOf(claim, signed);
    if (key !== null && claim.removedKeys.includes(key)) continue;
    const name = key ?? claim.did;
    const group = groups.get(name);
    if (group) group.claims.push(claim);
    else groups.set(name, { key, claims: [claim] });
  }
  return Array.from(groups.values(), toRow).sort((one, other) => one.since - other.since);
}

/**
 * A claim without proof belongs to a key of its controller once that key has signed for the credential; also to one
 * that is removed since, so that no claim without proof answers in its place. A key that another account has lost is no
 * reason: anyone's contract can show it.
 */
function signerOf({ controllerKeys, removedKeys }: Claim, signed: readonly Claim[]): string | null {
  const isNow = (one: Claim) => !hasLostKey(one) && controllerKeys?.includes(one.proofKey ?? '') === true;
  return (signed.find(isNow) ?? signed.find(({ proofKey }) => removedKeys.includes(proofKey ?? '')))?.proofKey ?? null;
}

/** Whether its controller has lost the key that signed. */
function hasLostKey({ proofKey, removedKeys }: Claim): boolean {
  return proofKey !== null && removedKeys.includes(proofKey);
}

/** The latest final proof decides the row's DID, else the earliest claim that is confirmed, else the earliest. */
function toRow({ key, claims }: { readonly key: string | null; readonly claims: readonly Claim[] }): CredentialRow {
  const [earliest] = claims as [Claim];
  const { did } = claims.findLast(isProvenFinal) ?? claims.find(({ isRegistered }) => isRegistered) ?? earliest;
  const [first, ...more] = claims.filter((claim) => claim.did === did) as [Claim];
  const claim = more.reduce((best, one) => (isShownBefore(one, best) ? one : best), first);
  return { key, claim, since: earliest.id };
}

/** Ties: the latest proven claim is shown. Without proofs the earliest is, as later ones are copies. */
function isShownBefore(later: Claim, earlier: Claim): boolean {
  const difference = weightOf(later) - weightOf(earlier);
  return difference > 0 || (difference === 0 && later.proofKey !== null);
}

function weightOf({ isFinal, isRegistered, proofKey }: Claim): number {
  return (isFinal ? 4 : 0) + (isRegistered ? 2 : 0) + (proofKey === null ? 0 : 1);
}

/** The result of a look-up. */
export interface Found extends CredentialRow {
  /** Of the registry's event: a re-org takes `confirmed` back. */
  readonly status: 'submitted' | 'confirmed';
  /** Another DID has a final row of this credential, or an older one. */
  readonly isAmbiguous: boolean;
}

/**
 * Looks up a credential among all claims of it. Without a key the oldest confirmed row answers, else the oldest one:
 * a later final row makes it ambiguous and never replaces it. With a key, rows of other keys do not exist, and once it
 * has signed, none without a key.
 */
export function lookUp(claims: readonly Claim[], key: string | null = null): Found | undefined {
  const all = credentialRows(claims);
  const signed = all.filter((row) => row.key === key);
  const rows = key === null ? all : signed.length > 0 || hasSigned(claims, key) ? signed : all.filter(mayBeOf(key));
  const row = rows.find(({ claim }) => claim.isRegistered) ?? rows[0];
  if (!row) return undefined;
  const others = rows.filter(({ claim }) => claim.did !== row.claim.did);
  return {
    ...row,
    status: row.claim.isRegistered ? 'confirmed' : 'submitted',
    isAmbiguous: others.some(({ claim, since }) => claim.isFinal || since < row.since),
  };
}

/** Whether the key has signed for the credential, also where its account has lost it since. */
function hasSigned(claims: readonly Claim[], key: string): boolean {
  return claims.some((claim) => !claim.isFailed && isProvenFinal(claim) && claim.proofKey === key);
}

/** A row without a key may be this key's, unless its controller shows others only. */
function mayBeOf(asked: string): (row: CredentialRow) => boolean {
  return ({ key, claim }) => key === null && (claim.controllerKeys === null || claim.controllerKeys.includes(asked));
}

/** The proofs of a claim. `holder` is that of its identifier, `ledTo` the DID hash that its alias leads to now. */
export function proofsOf(claim: Claim, holder: Claim | undefined, ledTo: string | null): Proofs {
  const isHandle = claim.channel === 'handle';
  const isOwn = isHandle ? ledTo === claim.didHash : holder?.did === claim.did || mayTake(claim, holder);
  return {
    identifier: !claim.isFailed && !claim.isLost && isOwn ? (isHandle ? 'alias' : 'attestation') : null,
    controller: claim.isRegistered && claim.proofKey !== null ? 'passkey' : null,
    did: claim.isRegistered && claim.isActive && claim.namesController ? 'address' : null,
  };
}

/** Whether a claim may take its address when it is final; of a holder with a passkey it may not before it holds it. */
export function mayTake(claim: Claim, holder: Claim | undefined): boolean {
  const isSlow = holder !== undefined && isProvenFinal(holder) && holder.isActive;
  return !isSlow && running.isChallenger(claim, holder);
}

/** Whether a look-up may say `proven: true`. */
export function isProven({ claim, isAmbiguous }: Found): boolean {
  return claim.isRegistered && claim.isActive && claim.proofKey !== null && !isAmbiguous;
}

/** A claim that is asked for. */
export type AskedClaim = running.AskedClaim & Pick<Claim, 'didHash'>;

/** What a new claim is judged by. */
export interface Admission {
  /** All claims of its identifier, and of its credential. */
  readonly ofIdentifier: readonly Claim[];
  readonly ofCredential: readonly Claim[];
  /** The DID hash that the handle's alias leads to now; null for none. */
  readonly ledTo: string | null;
  /** The DID of the handle's live session, if there is one. */
  readonly sessionDid: string | null;
}

/** The result of an admission: the code of the 409 if it is refused. */
export type Verdict = 'admitted' | 'credential_already_registered' | 'identifier_taken';

/** Whether a new claim is admitted. One with a proof may be, and displaces nothing before it is final. */
export function verdictOn(claim: AskedClaim, { ofIdentifier, ofCredential, ledTo, sessionDid }: Admission): Verdict {
  const found = lookUp(ofCredential);
  if (claim.proof === null && found && found.claim.did !== claim.did) return 'credential_already_registered';
  if (claim.channel !== 'handle') {
    const holder = holderOf(ofIdentifier);
    return claim.proof === null && holder && holder.did !== claim.did ? 'identifier_taken' : 'admitted';
  }
  // The chain decides: no proof, session or record counts against it.
  if (ledTo !== null) return ledTo === claim.didHash ? 'admitted' : 'identifier_taken';
  const live = ofIdentifier.filter(({ isFailed, isLost }) => !isFailed && !isLost);
  const isOther = sessionDid !== null && sessionDid !== claim.did;
  return isOther || live.some(({ did }) => did !== claim.did) ? 'identifier_taken' : 'admitted';
}

/** Whether a request only repeats a stored claim: the function that the vault runs, with the model's own holder. */
export function isRetry(request: running.AskedClaim, stored: Claim, ofIdentifier: readonly Claim[]): boolean {
  const holder = holderOf(ofIdentifier);
  const read = (claim: Claim) => ({ ...claim, isHolder: claim.id === holder?.id });
  return running.isRetry(request, read(stored), ofIdentifier.map(read));
}

/** A verified proof on a final block: what it takes to displace an earlier claim. */
function isProvenFinal({ isFinal, proofKey }: Claim): boolean {
  return isFinal && proofKey !== null;
}

function inOrder(claims: readonly Claim[]): readonly Claim[] {
  return [...claims].sort((one, other) => one.id - other.id);
}
