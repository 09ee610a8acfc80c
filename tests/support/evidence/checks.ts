import { isChallenger } from '../../../lib/registration/evidence.ts';
import {
  aliasOf,
  claimsOf,
  claimsOn,
  credentialOf,
  HANDLES,
  HONEST,
  type Honest,
  holderIn,
  isSigned,
  keyOf,
  lookAtChain,
  MAILS,
  NEW_MAIL,
  ownerOf,
  PEOPLE,
  post,
  shownKey,
  type TrueClaim,
  take,
  type World,
} from './world.ts';

// What must be true of every world, by the truth and not by the words of the model.

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** Checks all that must be true after every step. */
export function check(world: World): void {
  for (const person of PEOPLE) checkCredential(world, person);
  for (const identifier of [...HANDLES, ...MAILS]) checkIdentifier(world, identifier);
}

function checkCredential(world: World, person: (typeof PEOPLE)[number]): void {
  const { model } = world;
  const claims = claimsOn(world, credentialOf(person));
  if (claims.length === 0) return;
  const live = claims.filter((one) => !one.isFailed);
  const found = model.lookUp(claims);
  must((found !== undefined) === live.length > 0, 'a live claim is found, a failed one is not');
  if (!found) return;
  const shown = found.claim as TrueClaim;
  must(
    !shown.isFailed && shown.credentialId === credentialOf(person),
    'a look-up shows a live claim of its credential',
  );
  if (model.isProven(found)) {
    must(isEvident(world, shown), 'proven is only what the controller signed and the chain confirms');
    const others = live.filter((one) => one.isFinal && isRival(one, shown));
    must(others.length === 0, 'nothing is proven without a key while two people have final claims of a credential');
  }
  const [first] = live;
  if (first?.by === person && first.isRegistered && person !== 'thief')
    must(ownerOf(shown.did) === person, 'who comes first and is confirmed is the answer');
  checkNewest(world, live);
  for (const one of HONEST) checkKey(world, live, one);
}

/** Whether a claim leads to another person, in its own name: a contract may show a key that it does not have. */
function isRival(one: TrueClaim, shown: TrueClaim): boolean {
  return ownerOf(one.did) !== ownerOf(shown.did) && (one.proofKey ?? shownKey(one.did)) !== shown.proofKey;
}

/** The newest claim changes no answer before it is final. */
function checkNewest({ model }: World, live: readonly TrueClaim[]): void {
  const newest = live.at(-1);
  const before = model.lookUp(live.slice(0, -1));
  if (!newest || newest.isFinal || !before?.claim.isRegistered) return;
  // Its row is older than the answer, by a claim that the chain does not show yet.
  const isOfRow = ({ did, proofKey }: TrueClaim) => did === newest.did || (proofKey ?? did) === newest.proofKey;
  if (live.some((one) => one.id < before.since && isOfRow(one))) return;
  const after = model.lookUp(live);
  const isSame = after?.claim.did === before.claim.did && after.isAmbiguous === before.isAmbiguous;
  must(isSame, 'a claim that is not final changes no answer');
}

function checkKey({ model }: World, live: readonly TrueClaim[], person: Honest): void {
  const found = model.lookUp(live, keyOf(person));
  if (!found) return;
  must(
    found.claim.proofKey === null || found.claim.proofKey === keyOf(person),
    'a look-up with a key never answers what another key signed',
  );
  const own = live.filter((one) => one.by === person && one.isRegistered && isSigned(one) && one.signer === person);
  if (own.length === 0) return;
  must(ownerOf(found.claim.did) === person && model.isProven(found), 'a look-up with a key finds what that key signed');
}

/** Whether a proven claim is: its controller signed it, and its transaction is in the chain. */
function isEvident({ dids }: World, claim: TrueClaim): boolean {
  return claim.isReal && dids.has(claim.did) && isSigned(claim) && claim.by === ownerOf(claim.did);
}

function checkIdentifier(world: World, identifier: string): void {
  const claims = claimsOf(world, identifier);
  if (claims.length === 0) return;
  const live = claims.filter((one) => !one.isFailed);
  const holder = holderIn(world, identifier);
  const alias = aliasOf(world, identifier);
  if (holder) must(!holder.isFailed && holder.identifier === identifier, 'a holder is a live claim of its identifier');
  if (identifier.startsWith('handle:')) {
    if (alias.final !== null && alias.final === alias.now && holder)
      must(holder.did === alias.final, 'a handle is held by whom the chain names');
  } else {
    must((holder !== undefined) === live.length > 0, 'an address with a live claim has a holder');
    const latest = live.findLast((one) => one.isFinal && isSigned(one));
    if (latest) must(holder?.id === latest.id, 'an address is held by the latest final claim with full evidence');
    const newest = live.at(-1);
    if (newest && !newest.isFinal && live.length > 1) {
      const before = world.model.holderOf(live.slice(0, -1));
      must(holder?.id === before?.id, 'a claim that is not final takes no identifier');
    }
  }
  for (const claim of live) checkProofs(world, claim, holder);
}

function checkProofs(world: World, claim: TrueClaim, holder: TrueClaim | undefined): void {
  const alias = aliasOf(world, claim.identifier);
  const proofs = world.model.proofsOf(claim, holder, alias.now);
  if (proofs.controller) must(isEvident(world, claim), 'a controller is proven by its own signature alone');
  if (proofs.identifier === 'alias')
    must(alias.now === claim.did, 'a handle is proven by the alias of the chain alone');
  if (proofs.identifier === 'attestation')
    must(holder?.did === claim.did || isChallenger(claim, holder), 'a displaced claim proves no address');
}

/** Checks that an undone claim leaves everything as if it had never been made. */
export function checkUndo(world: World, index: number): void {
  const undone = world.claims[index];
  if (!undone?.isFailed) return;
  const { model } = world;
  const without = (claims: readonly TrueClaim[]) => claims.filter((one) => one !== undone);
  const { identifier, credentialId } = undone;
  const holder = model.holderOf(without(claimsOf(world, identifier)));
  must(holderIn(world, identifier)?.id === holder?.id, 'what a failed claim displaced holds its identifier again');
  const before = model.lookUp(without(claimsOn(world, credentialId)));
  const after = model.lookUp(claimsOn(world, credentialId));
  must(before?.claim.id === after?.claim.id, 'what a failed claim displaced answers for its credential again');
}

/** Checks a no-proof request of an honest person, as published clients send it. */
export function checkRefusal(world: World, by: Honest, did: string, verdict: string | undefined): void {
  const live = claimsOn(world, credentialOf(by)).filter((one) => !one.isFailed);
  const [first] = live;
  const isMoved = live.some((one) => one.by === by && one.did !== did);
  if (first?.by === by && first.isRegistered && !isMoved)
    must(verdict !== 'credential_already_registered', 'a published client adds identifiers to its own credential');
}

/** Checks, at the end of a history, that owners get what is theirs; every check leaves the world changed. */
export function checkOwners(world: World): void {
  checkFullEvidence(world, world.mailbox, MAILS[0]);
  const [handle] = HANDLES;
  const { now } = aliasOf(world, handle);
  if (now !== null && ownerOf(now) !== 'thief') checkFullEvidence(world, ownerOf(now) as Honest, handle, now);
  checkPublished(world, NEW_MAIL, 'did:bob:8');
  checkPublished(world, 'handle:blue', 'did:bob:9');
}

/** The owner of an address or an alias sends everything there is: it is hers, whatever happened before. */
function checkFullEvidence(world: World, by: Honest, identifier: string, did = `did:${by}:1`): void {
  const { model } = world;
  const credentialId = credentialOf(by);
  take(world, { kind: 'mine', did, handle: null });
  const verdict = post(world, { by, identifier, did, credentialId, proof: 'signed' });
  must(verdict === 'admitted' || verdict === 'retry', `full evidence is not refused: ${verdict}`);
  take(world, { kind: 'finalize' });
  must(holderIn(world, identifier)?.did === did, 'full evidence takes its identifier');
  const found = model.lookUp(claimsOn(world, credentialId), shownKey(did));
  must(found !== undefined && model.isProven(found), 'full evidence proves its credential');
  must(ownerOf((found as NonNullable<typeof found>).claim.did) === by, 'full evidence leads its credential to its DID');
}

/** A published client: registers on-chain, then here with a new passkey and no proof. */
function checkPublished(world: World, identifier: string, did: string): void {
  const { model, dids } = world;
  const isHandle = identifier.startsWith('handle:');
  if (isHandle && (aliasOf(world, identifier).now !== null || aliasOf(world, identifier).final !== null)) return;
  take(world, { kind: 'mine', did, handle: isHandle ? identifier : null });
  must(dids.has(did), 'the chain took it');
  const credentialId = `fresh passkey for ${did}`;
  const verdict = post(world, { by: 'bob', identifier, did, credentialId, proof: 'none' });
  must(verdict === 'admitted', `a published client is not refused: ${verdict}`);
  lookAtChain(world);
  const found = model.lookUp(claimsOn(world, credentialId));
  must(found?.claim.did === did && found.status === 'confirmed', 'a published client finds its DID');
  take(world, { kind: 'finalize' });
  must(holderIn(world, identifier)?.did === did, 'a published client holds its identifier');
}
