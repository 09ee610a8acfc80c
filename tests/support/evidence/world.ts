import type * as evidence from './model.ts';

// A world for the model of `model.ts`: a chain, mailboxes, people and a thief. It knows the truth,
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
/** A second passkey of a person. That of Alice is in the thief's hands. */
export const secondKeyOf = (person: Person) => `second key of ${person}`;
export const KEYS = [...PEOPLE.map(keyOf), secondKeyOf('alice'), secondKeyOf('bob')];
/** The passkey of a key, and all of them. */
export const credentialOfKey = (key: string) => key.replace('key', 'credential');
export const CREDENTIALS = KEYS.map(credentialOfKey);
/** Whose signature a key makes. */
export const signersOf = (key: string): readonly Person[] =>
  key === secondKeyOf('alice') ? ['alice', 'thief'] : PEOPLE.filter((one) => key.endsWith(` of ${one}`));

/** The keys that a DID's controller begins with. A contract may show another person's key, and so does one of the thief's. */
export const firstKey = (did: string) => (did === 'did:thief:2' ? keyOf('alice') : keyOf(ownerOf(did)));
/** Whether the controller is an account whose keys may change; the others show one key for good. */
export const isSeveral = (did: string) => did !== 'did:thief:2' && did !== 'did:bob:9';

/** A claim with what really happened. */
export interface TrueClaim extends evidence.Claim {
  readonly by: Person;
  /** The key that signed the proof; null without one. A forged one has nobody's signature. */
  readonly signer: string | null;
  /** The key came after the registration, and was not final when the vault judged it. */
  readonly isLate: boolean;
  /** The transaction exists, or will; that of a relayed claim always does. */
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
  /** The key that signs, the person's first one if absent; and whether the request names it. */
  readonly key?: string;
  readonly isNamed?: boolean;
  /** Nobody names a transaction for a relayed claim, so this counts for nothing there. */
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
  | { readonly kind: 'add key' | 'remove key'; readonly did: string; readonly key: string }
  | ({ readonly kind: 'post' } & Post);

/** The DID that an alias leads to in the newest block, and in the final one. */
interface Alias {
  now: string | null;
  final: string | null;
}

/** The keys of a DID's controller in the newest block and in the final one, and what the vault knows of them. */
interface Keys {
  now: readonly string[];
  final: readonly string[];
  /** Each that the vault has seen: whether it is removed. Undefined before the vault knows the account. */
  known: Map<string, boolean> | undefined;
}

export interface World {
  readonly model: Model;
  readonly keys: Map<string, Keys>;
  readonly claims: Mutable<TrueClaim>[];
  /** The state of each mined DID. */
  readonly dids: Map<string, 'mined' | 'final'>;
  readonly aliases: Map<string, Alias>;
  readonly sessions: Map<string, string>;
  /** Identifiers with DIDs that the operator's undo keeps from them. */
  readonly barred: Set<string>;
  mailbox: Honest;
  reorgs: number;
  /** How many re-orgs there were before each block was final: one block each time. */
  readonly finalized: number[];
  /** The place of each mined DID's block among them. */
  readonly blocks: Map<string, number>;
}

export function newWorld(model: Model): World {
  return {
    model,
    keys: new Map(),
    claims: [],
    dids: new Map(),
    aliases: new Map(),
    sessions: new Map(),
    barred: new Set(),
    mailbox: 'alice',
    reorgs: 0,
    finalized: [],
    blocks: new Map(),
  };
}

/** The keys of a DID's controller. */
export function keysOf({ keys }: World, did: string): Keys {
  const found = keys.get(did) ?? { now: [firstKey(did)], final: [firstKey(did)], known: undefined };
  keys.set(did, found);
  return found;
}

export const aliasOf = ({ aliases }: World, identifier: string): Readonly<Alias> =>
  aliases.get(identifier) ?? { now: null, final: null };
export const claimsOf = ({ claims }: World, identifier: string) =>
  claims.filter((one) => one.identifier === identifier);
export const claimsOn = ({ claims }: World, credential: string) => claims.filter((o) => o.credentialId === credential);
export const holderIn = (world: World, identifier: string) =>
  world.model.holderOf(claimsOf(world, identifier)) as TrueClaim | undefined;

/**
 * Whether a claim's proof is what it says: signed by a key that the controller of its DID has, or had in the block of
 * the registration. What was right once stays so while that block stands.
 */
export function isSigned(world: World, { signer, did, proofKey, isFinal, isLate }: TrueClaim): boolean {
  if (signer === null || signer === 'forged') return false;
  return (signer === proofKey && (isFinal || !isLate)) || mayProve(world, did, signer);
}

/** Whether a key proves a claim of the DID now. */
export function mayProve(world: World, did: string, key: string): boolean {
  const { now, final } = keysOf(world, did);
  return now.includes(key) || (world.dids.get(did) === 'final' && final.includes(key));
}

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
      world.finalized.push(world.reorgs);
      for (const did of dids.keys()) dids.set(did, 'final');
      for (const alias of aliases.values()) alias.final = alias.now;
      for (const one of world.keys.values()) one.final = one.now;
      return;
    case 'reorg':
      world.reorgs += 1;
      for (const [did, state] of dids) if (state === 'mined') dids.delete(did);
      for (const alias of aliases.values()) alias.now = alias.final;
      for (const one of world.keys.values()) one.now = one.final;
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
    case 'add key': {
      const of = keysOf(world, step.did);
      if (isSeveral(step.did) && !of.now.includes(step.key)) of.now = [...of.now, step.key];
      return;
    }
    case 'remove key': {
      const of = keysOf(world, step.did);
      // Never the last.
      if (of.now.length > 1) of.now = of.now.filter((key) => key !== step.key);
      return;
    }
    case 'undo': {
      const undone = claims[step.claim];
      if (undone && !undone.isFailed) bar(world, undone);
      if (undone) undone.isFailed = true;
    }
  }
}

/** An undone claim of an address keeps its DID away, if another has claimed it too. */
function bar(world: World, { identifier, did }: TrueClaim): void {
  const others = claimsOf(world, identifier).filter((one) => one.did !== did && !one.isFailed && !one.isLost);
  if (others.length > 0 && !identifier.startsWith('handle:')) world.barred.add(`${identifier} ${did}`);
}

function mine(world: World, did: string, handle: string | null): void {
  if (world.dids.has(did) || (handle !== null && aliasOf(world, handle).now !== null)) return;
  world.dids.set(did, 'mined');
  world.blocks.set(did, world.finalized.length);
  if (handle !== null) world.aliases.set(handle, { ...aliasOf(world, handle), now: did });
}

/** The result of `POST /api/dids`; undefined if the caller cannot prove the address. */
export function post(world: World, asked: Post): evidence.Verdict | 'retry' | undefined {
  const { by, identifier, did, credentialId, proof, key = keyOf(by) } = asked;
  const { isNamed = false, isRelayed = false } = asked;
  // The vault sends a relayed claim's transaction itself, so no caller can invent it.
  const isReal = isRelayed || (asked.isReal ?? true);
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
    key: isNamed ? key : null,
  };
  if (isRelayed && !mayBeRelayed(world, asked, key)) return undefined;
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
  if (world.barred.has(`${identifier} ${did}`) && holderIn(world, identifier)?.did !== did) return 'identifier_taken';
  const signer: TrueClaim['signer'] = proof === 'none' ? null : proof === 'forged' ? proof : key;
  const claim = { ...request, id: world.claims.length, by, signer, isReal, isRelayed, ...UNSEEN };
  world.claims.push({ ...claim, proofKey: isRelayed ? signer : null });
  if (isRelayed) knowKeys(world, did, [key]);
  return verdict;
}

/** The relay judges the proof before it writes anything, and asks the registry for the DID. */
function mayBeRelayed(world: World, { by, did, proof }: Post, key: string): boolean {
  return ownerOf(did) === by && proof === 'signed' && keysOf(world, did).now.includes(key) && !world.dids.has(did);
}

/** What the vault knows of an account from now on. */
function knowKeys(world: World, did: string, keys: readonly string[]): void {
  if (!isSeveral(did)) return;
  const of = keysOf(world, did);
  of.known ??= new Map();
  for (const key of keys) if (!of.known.has(key)) of.known.set(key, false);
}

/** The vault looks at the accounts that it knows: gone is what is neither in the newest block nor in the final one. */
function lookAtKeys(world: World): void {
  for (const { known, now, final } of world.keys.values()) {
    if (known === undefined) continue;
    for (const key of now) if (!known.has(key)) known.set(key, false);
    for (const [key, isRemoved] of known) {
      if (isRemoved && final.includes(key)) known.set(key, false);
      if (!isRemoved && !now.includes(key) && !final.includes(key)) known.set(key, true);
    }
  }
}

const UNSEEN = {
  isRegistered: false,
  isFinal: false,
  isFailed: false,
  isLost: false,
  isWaiting: false,
  isLate: false,
  proofKey: null,
  controllerKeys: null,
  removedKeys: [],
  namesController: false,
  isActive: true,
};

/** What the background tasks do: read the chain for each claim and judge its proof, then look at the accounts' keys. */
export function lookAtChain(world: World): void {
  for (const one of world.claims) {
    const seen = one.isReal && !one.isFailed ? world.dids.get(one.did) : undefined;
    const wasRegistered = one.isRegistered;
    one.isRegistered = seen !== undefined;
    if (one.isRelayed && seen !== undefined) one.txHash = one.did;
    if (seen === undefined && !one.isRelayed) one.proofKey = null;
    if (seen === undefined) one.isLate = false;
    if (seen !== undefined && one.proof !== null && !one.isRelayed) judgeProof(world, one, wasRegistered);
    one.isFinal = seen === 'final' && !one.isFailed && (!one.isLate || isLateFinal(world, one));
    const signed = one.proofKey === null ? [] : [one.proofKey];
    if (one.isRegistered) knowKeys(world, one.did, [...keysOf(world, one.did).now, ...signed]);
    const { now, final } = aliasOf(world, one.identifier);
    if (one.channel === 'handle' && final !== null && final === now && final !== one.did) one.isLost = true;
  }
  endSessions(world);
  lookAtKeys(world);
  for (const one of world.claims) showKeys(world, one);
}

/** A handle's session outlives a claim of its own DID that fails. The claim of the alias's DID ends that of another. */
function endSessions(world: World): void {
  for (const [handle, did] of world.sessions) {
    const holder = holderIn(world, handle)?.did;
    if (holder !== undefined && holder !== did && holder === aliasOf(world, handle).now) world.sessions.delete(handle);
  }
}

/** A late key counts once it is in the final block, and then stays. */
function isLateFinal(world: World, { isFinal, did, signer }: TrueClaim): boolean {
  return isFinal || keysOf(world, did).final.includes(signer ?? '');
}

function showKeys(world: World, one: Mutable<TrueClaim>): void {
  const { known } = keysOf(world, one.did);
  const of = (isRemoved: boolean) => Array.from(known ?? []).flatMap(([key, was]) => (was === isRemoved ? [key] : []));
  one.controllerKeys = one.isRegistered ? (isSeveral(one.did) ? of(false) : [firstKey(one.did)]) : null;
  one.removedKeys = one.isRegistered || one.isRelayed ? of(true) : [];
}

/** A claim with a wrong proof fails: it may have been admitted for its proof only. */
function judgeProof(world: World, one: Mutable<TrueClaim>, wasRegistered: boolean): void {
  if (isSigned(world, one)) {
    const isFirst = !wasRegistered || one.proofKey === null;
    if (isFirst)
      one.isLate = world.dids.get(one.did) === 'final' && !keysOf(world, one.did).final.includes(`${one.signer}`);
    one.proofKey = one.signer;
    return;
  }
  one.isFailed = true;
  one.isRegistered = false;
}
