import { mayTake } from './model.ts';
import {
  aliasOf,
  CREDENTIALS,
  claimsOf,
  claimsOn,
  credentialOfKey,
  HANDLES,
  type Honest,
  holderIn,
  isSeveral,
  isSigned,
  KEYS,
  keysOf,
  lookAtChain,
  MAILS,
  NEW_MAIL,
  ownerOf,
  type Post,
  post,
  signersOf,
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
  for (const credential of CREDENTIALS) checkCredential(world, credential);
  for (const identifier of [...HANDLES, ...MAILS]) checkIdentifier(world, identifier);
}

function checkCredential(world: World, credential: string): void {
  const { model } = world;
  const claims = claimsOn(world, credential);
  if (claims.length === 0) return;
  const live = claims.filter((one) => !one.isFailed);
  const found = model.lookUp(claims);
  const answering = live.filter((one) => !isStopped(world, one, live));
  must((found !== undefined) === answering.length > 0, 'a live claim is found, one that failed or lost its key is not');
  if (!found) return;
  const shown = found.claim as TrueClaim;
  must(!shown.isFailed && shown.credentialId === credential, 'a look-up shows a live claim of its credential');
  if (model.isProven(found)) {
    must(isEvident(world, shown), 'proven is only what the controller signed and the chain confirms');
    const others = answering.filter((one) => one.isFinal && isRival(one, shown, answering));
    must(others.length === 0, 'nothing is proven without a key while two people have final claims of a credential');
  }
  const [first] = answering;
  // A thief with a stolen key moves what is that key's.
  const isMoved = first !== undefined && signersOf(shown.proofKey ?? '').includes(first.by);
  if (first?.isRegistered && first.by !== 'thief' && credential.endsWith(` of ${first.by}`))
    must(ownerOf(shown.did) === first.by || isMoved, 'who comes first and is confirmed is the answer');
  checkNewest(world, answering);
  for (const key of KEYS) checkKey(world, live, key);
}

/**
 * Whether a claim leads to another person, in its own name: a contract may show a key that it does not have, and a key
 * that signed again leads where it signed last.
 */
function isRival(one: TrueClaim, shown: TrueClaim, answering: readonly TrueClaim[]): boolean {
  const keys = one.proofKey === null ? (one.controllerKeys ?? []) : [one.proofKey];
  const last = answering.findLast(({ isFinal, proofKey }) => isFinal && proofKey !== null && keys.includes(proofKey));
  return ownerOf((last ?? one).did) !== ownerOf(shown.did) && !keys.includes(shown.proofKey ?? '');
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

function checkKey(world: World, live: readonly TrueClaim[], key: string): void {
  const { model } = world;
  const found = model.lookUp(live, key);
  const own = live.filter((one) => one.isRegistered && one.proofKey === key && isLive(world, one.did, key));
  if (own.length > 0)
    must(found !== undefined && model.isProven(found), 'a look-up with a key finds what that key signed');
  const unsigned = live.filter((one) => one.proofKey === null && one.isRegistered && isUnsigned(world, one, live));
  const isAnyOfKey = unsigned.some(({ did }) => {
    const { now, final } = keysOf(world, did);
    return now.includes(key) && final.includes(key) && isLive(world, did, key);
  });
  const hasSigned = live.some((one) => one.isFinal && one.proofKey === key);
  must(
    found !== undefined || !isAnyOfKey || hasSigned,
    'a look-up with any key of an account finds its claim without proof',
  );
  if (hasSigned && !live.some((one) => one.proofKey === key && !isStopped(world, one, live)))
    must(found === undefined, 'a key that its account has lost finds nothing, whoever shows it');
  if (!found) return;
  const { did, proofKey, isRegistered } = found.claim;
  must(!isRegistered || !isGone(world, did, key), 'a look-up with a key finds no claim of an account without it');
  must(proofKey === null || proofKey === key, 'a look-up with a key never answers what another key signed');
  must(proofKey === null || !isGone(world, did, key), 'a removed key leads nowhere for its account');
  if (own.length === 0) return;
  const owners = own.map((one) => ownerOf(one.did));
  must(owners.includes(ownerOf(did)), 'a look-up with a key leads where that key signed for');
}

/** Whether no key of its controller has signed for the credential of a claim without proof. */
function isUnsigned(world: World, { did }: TrueClaim, live: readonly TrueClaim[]): boolean {
  const { known } = keysOf(world, did);
  return !live.some((one) => one.isFinal && one.proofKey !== null && known?.has(one.proofKey) === true);
}

/** Whether an account has a key neither now nor in the final block. */
function isGone(world: World, did: string, key: string): boolean {
  const { now, final } = keysOf(world, did);
  return !now.includes(key) && !final.includes(key);
}

/** Whether an account has a key: one that was removed for good has to be final again. */
function isLive(world: World, did: string, key: string): boolean {
  const { now, final, known } = keysOf(world, did);
  return final.includes(key) || (now.includes(key) && known?.get(key) !== true);
}

/** Whether a claim leads nowhere: its key is gone, or it has none, and all keys of its controller that signed are. */
function isStopped(world: World, { did, proofKey, isRegistered }: TrueClaim, live: readonly TrueClaim[]): boolean {
  if (proofKey !== null) return !isLive(world, did, proofKey) && isSeveral(did);
  if (!isRegistered) return false;
  const { known = new Map<string, boolean>() } = keysOf(world, did);
  const signed = live.filter((one) => one.isFinal && one.proofKey !== null && known.has(one.proofKey));
  // A key that only another account has lost stops nothing here.
  const isGoing = ({ did: by, proofKey: key }: TrueClaim) => isLive(world, by, key ?? '') || !isSeveral(by);
  const joined = signed.filter((one) => known.get(one.proofKey ?? '') === true || isGoing(one));
  return joined.length > 0 && joined.every((one) => known.get(one.proofKey ?? '') === true);
}

/** Whether a proven claim is: a key of its controller signed it, and its transaction is in the chain. */
function isEvident(world: World, claim: TrueClaim): boolean {
  return claim.isReal && world.dids.has(claim.did) && isSigned(world, claim) && mayBeBy(claim);
}

/** Who holds a stolen key signs as its owner does. */
function mayBeBy({ by, did, signer }: TrueClaim): boolean {
  return by === ownerOf(did) || signersOf(signer ?? '').includes(by);
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
    const latest = live.findLast((one) => one.isFinal && isSigned(world, one));
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
    must(holder?.did === claim.did || mayTake(claim, holder), 'a displaced claim proves no address');
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
export function checkRefusal(world: World, { by, did, credentialId }: Post, verdict: string | undefined): void {
  const all = claimsOn(world, credentialId).filter((one) => !one.isFailed);
  const live = all.filter((one) => !isStopped(world, one, all));
  const [first] = live;
  const isMoved = live.some((one) => one.by === by && one.did !== did);
  if (first?.by === by && first.isRegistered && !isMoved)
    must(verdict !== 'credential_already_registered', 'a published client adds identifiers to its own credential');
}

/** Checks, at the end of a history, that owners get what is theirs; every check leaves the world changed. */
export function checkOwners(world: World): void {
  // After thirty days.
  world.barred.clear();
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
  take(world, { kind: 'mine', did, handle: null });
  // Any key that she still has will do; her second one may be in the thief's hands too.
  const key = keysOf(world, did).now.at(-1) as string;
  const credentialId = credentialOfKey(key);
  const verdict = post(world, { by, identifier, did, credentialId, proof: 'signed', key, isNamed: true });
  must(verdict === 'admitted' || verdict === 'retry', `full evidence is not refused: ${verdict}`);
  take(world, { kind: 'finalize' });
  must(holderIn(world, identifier)?.did === did, 'full evidence takes its identifier');
  const found = model.lookUp(claimsOn(world, credentialId), key);
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
