import type * as evidence from '../../../lib/registration/evidence.ts';

// A world for the model of `lib/registration/evidence.ts`: a chain, mailboxes, people and a thief. It knows the truth,
// which the model does not.

/** What is checked: the model, or a mutant of it. */
export type Model = Pick<typeof evidence, 'holderOf' | 'lookUp' | 'proofsOf' | 'isProven' | 'verdictOn' | 'isRetry'>;

/** Two honest people and a thief. */
export const PEOPLE = ['alice', 'bob', 'thief'] as const;
export type Person = (typeof PEOPLE)[number];
export const HONEST = ['alice', 'bob'] as const;
export type Honest = (typeof HONEST)[number];

export const HANDLES = ['handle:red', 'handle:blue'] as const;
/** The first one passes from one person to the other, as a recycled address does. */
export const MAILS = ['email:shared', 'email:alice', 'email:bob', 'email:thief'] as const;

/** Bob's, unused before the end of a history. */
export const NEW_MAIL = 'email:new';

export const didsOf = (person: Person) => (person === 'bob' ? ['did:bob:1'] : [`did:${person}:1`, `did:${person}:2`]);
export const DIDS = PEOPLE.flatMap(didsOf);
export const ownerOf = (did: string) => did.slice(4, -2) as Person;
export const credentialOf = (person: Person) => `credential of ${person}`;
export const keyOf = (person: Person) => `key of ${person}`;

/** The key that a DID's controller shows. A contract may show the key of another person, and so does one of the thief's. */
export const shownKey = (did: string) => (did === 'did:thief:2' ? keyOf('alice') : keyOf(ownerOf(did)));

/** A claim with what really happened. */
export interface TrueClaim extends evidence.Claim {
  readonly by: Person;
  /** Who signed the proof; null without one. A forged one has the claimed key, and nobody's signature. */
  readonly signer: Person | 'forged' | null;
  /** The transaction exists, or will. */
  readonly isReal: boolean;
  /** The vault sends the transaction, and knows the controller from the beginning. */
  readonly isRelayed: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A request for a claim. */
export interface Post {
  readonly by: Person;
  readonly identifier: string;
  readonly did: string;
  readonly credentialId: string;
  readonly proof: 'none' | 'signed' | 'forged';
  readonly isReal?: boolean;
  readonly isRelayed?: boolean;
}

/** One step of a history. */
export type Step =
  | { readonly kind: 'mine'; readonly did: string; readonly handle: string | null }
  | { readonly kind: 'finalize' | 'reorg' | 'time passes' }
  | { readonly kind: 'alias moves'; readonly handle: string; readonly did: string }
  | { readonly kind: 'session'; readonly handle: string; readonly did: string }
  | { readonly kind: 'address passes'; readonly to: Honest }
  | { readonly kind: 'undo'; readonly claim: number }
  | ({ readonly kind: 'post' } & Post);

/** The DID that an alias leads to in the newest block, and in the final one. */
interface Alias {
  now: string | null;
  final: string | null;
}

export interface World {
  readonly model: Model;
  readonly claims: Mutable<TrueClaim>[];
  /** The state of each mined DID. */
  readonly dids: Map<string, 'mined' | 'final'>;
  readonly aliases: Map<string, Alias>;
  readonly sessions: Map<string, string>;
  mailbox: Honest;
  reorgs: number;
}

export function newWorld(model: Model): World {
  return { model, claims: [], dids: new Map(), aliases: new Map(), sessions: new Map(), mailbox: 'alice', reorgs: 0 };
}

export const aliasOf = ({ aliases }: World, identifier: string): Readonly<Alias> =>
  aliases.get(identifier) ?? { now: null, final: null };
export const claimsOf = ({ claims }: World, identifier: string) =>
  claims.filter((one) => one.identifier === identifier);
export const claimsOn = ({ claims }: World, credential: string) => claims.filter((o) => o.credentialId === credential);
export const holderIn = (world: World, identifier: string) =>
  world.model.holderOf(claimsOf(world, identifier)) as TrueClaim | undefined;

/** Whether a claim's proof is what it says: signed by the controller of its DID. */
export const isSigned = ({ signer, did }: TrueClaim) =>
  signer !== null && signer !== 'forged' && keyOf(signer) === shownKey(did);

/** Who can prove an address now. */
export function mayAttest({ mailbox }: World, person: Person, identifier: string): boolean {
  if (identifier === MAILS[0]) return person === mailbox;
  return identifier === `email:${person}` || (identifier === NEW_MAIL && person === 'bob');
}

/** Takes one step. Steps that make no sense change nothing, so that any part of a history is a history. */
export function take(world: World, step: Step): void {
  change(world, step);
  lookAtChain(world);
}

function change(world: World, step: Step): void {
  const { dids, aliases, claims, sessions } = world;
  switch (step.kind) {
    case 'post':
      post(world, step);
      return;
    case 'mine':
      mine(world, step.did, step.handle);
      return;
    case 'finalize':
      for (const did of dids.keys()) dids.set(did, 'final');
      for (const alias of aliases.values()) alias.final = alias.now;
      return;
    case 'reorg':
      world.reorgs += 1;
      for (const [did, state] of dids) if (state === 'mined') dids.delete(did);
      for (const alias of aliases.values()) alias.now = alias.final;
      return;
    case 'alias moves':
      if (dids.has(step.did)) aliases.set(step.handle, { ...aliasOf(world, step.handle), now: step.did });
      return;
    case 'time passes':
      for (const one of claims) if (!one.isRegistered) one.isFailed = true;
      sessions.clear();
      return;
    case 'session': {
      const isFree = aliasOf(world, step.handle).now === null && !holderIn(world, step.handle);
      if (isFree && !sessions.has(step.handle)) sessions.set(step.handle, step.did);
      return;
    }
    case 'address passes':
      world.mailbox = step.to;
      return;
    case 'undo': {
      const undone = claims[step.claim];
      if (undone) undone.isFailed = true;
    }
  }
}

function mine(world: World, did: string, handle: string | null): void {
  if (world.dids.has(did) || (handle !== null && aliasOf(world, handle).now !== null)) return;
  world.dids.set(did, 'mined');
  if (handle !== null) world.aliases.set(handle, { ...aliasOf(world, handle), now: did });
}

/** The result of `POST /api/dids`; undefined if the caller cannot prove the address. */
export function post(world: World, asked: Post): evidence.Verdict | 'retry' | undefined {
  const { by, identifier, did, credentialId, proof, isReal = true, isRelayed = false } = asked;
  const isHandle = identifier.startsWith('handle:');
  if (!isHandle && !mayAttest(world, by, identifier)) return undefined;
  const request = {
    channel: isHandle ? ('handle' as const) : ('email' as const),
    identifier,
    did,
    didHash: did,
    credentialId,
    txHash: isRelayed ? '' : isReal ? did : 'invented',
    proof: proof === 'none' ? null : `${proof} ${world.claims.length}`,
  };
  if (isRelayed && !mayBeRelayed(world, by, did)) return undefined;
  const ofIdentifier = claimsOf(world, identifier);
  if (ofIdentifier.some((stored) => world.model.isRetry(request, stored, ofIdentifier))) return 'retry';
  // A second registration for one account would revert.
  if (isRelayed && world.claims.some((one) => one.isRelayed && one.did === did)) return undefined;
  const verdict = world.model.verdictOn(request, {
    ofIdentifier,
    ofCredential: claimsOn(world, credentialId),
    ledTo: aliasOf(world, identifier).now,
    sessionDid: world.sessions.get(identifier) ?? null,
  });
  if (verdict !== 'admitted') return verdict;
  const signer: TrueClaim['signer'] = proof === 'none' ? null : proof === 'forged' ? proof : by;
  const claim = { ...request, id: world.claims.length, by, signer, isReal, isRelayed, ...UNSEEN };
  const isKnown = isRelayed && isSigned(claim);
  world.claims.push({ ...claim, proofKey: isKnown ? keyOf(by) : null });
  // A registration's own session ends with it.
  world.sessions.delete(identifier);
  return verdict;
}

/** The relay judges the proof before it writes anything, and asks the registry for the DID. */
function mayBeRelayed({ dids }: World, by: Person, did: string): boolean {
  return ownerOf(did) === by && keyOf(by) === shownKey(did) && !dids.has(did);
}

const UNSEEN = {
  isRegistered: false,
  isFinal: false,
  isFailed: false,
  isLost: false,
  proofKey: null,
  controllerKey: null,
  namesController: false,
};

/** What the background task does: reads the chain for each claim and judges its proof. */
export function lookAtChain(world: World): void {
  for (const one of world.claims) {
    const seen = one.isReal && !one.isFailed ? world.dids.get(one.did) : undefined;
    one.isRegistered = seen !== undefined;
    one.isFinal = seen === 'final';
    if (one.isRelayed && seen !== undefined) one.txHash = one.did;
    one.controllerKey = seen === undefined ? null : shownKey(one.did);
    if (seen === undefined && !one.isRelayed) one.proofKey = null;
    if (seen !== undefined && one.proof !== null) judgeProof(one);
    const { now, final } = aliasOf(world, one.identifier);
    if (one.channel === 'handle' && final !== null && final === now && final !== one.did) one.isLost = true;
  }
}

/** A claim with a wrong proof fails: it may have been admitted for its proof only. */
function judgeProof(one: Mutable<TrueClaim>): void {
  if (isSigned(one)) {
    one.proofKey = shownKey(one.did);
    return;
  }
  one.isFailed = true;
  one.isRegistered = false;
  one.isFinal = false;
}
