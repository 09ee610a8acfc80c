import { type Draw, openDraw } from '../draw.ts';
import { check, checkOwners, checkRefusal, checkUndo } from './checks.ts';
import {
  CREDENTIALS,
  credentialOfKey,
  DIDS,
  didsOf,
  HANDLES,
  HONEST,
  KEYS,
  keyOf,
  lookAtChain,
  MAILS,
  type Model,
  newWorld,
  ownerOf,
  post,
  type Step,
  secondKeyOf,
  signersOf,
  take,
  type World,
} from './world.ts';

/** A history that broke a rule, as short as it gets. */
export interface Broken {
  readonly seed: number;
  readonly rule: string;
  readonly steps: readonly Step[];
}

/** Runs so many random histories; returns the first that breaks a rule, shrunk, or undefined. */
export function findBroken(model: Model, seed: number, histories: number): Broken | undefined {
  for (let i = 0; i < histories; i++) {
    const steps = drawHistory(openDraw(seed + i));
    if (broken(model, steps) === undefined) continue;
    const shortest = shrink(model, steps);
    return { seed: seed + i, rule: broken(model, shortest) ?? '', steps: shortest };
  }
  return undefined;
}

/** The rule that a history breaks. */
export function broken(model: Model, steps: readonly Step[]): string | undefined {
  const world = newWorld(model);
  let checked = '';
  try {
    for (const step of steps) {
      if (step.kind === 'post' && step.by !== 'thief' && step.proof === 'none') {
        const verdict = post(world, step);
        checkRefusal(world, step, verdict);
        lookAtChain(world);
      } else take(world, step);
      // Many steps change nothing.
      const state = stateOf(world);
      if (state !== checked) check(world);
      checked = state;
      if (step.kind === 'undo') checkUndo(world, step.claim);
    }
    checkOwners(world);
    return undefined;
  } catch (failure) {
    return (failure as Error).message;
  }
}

/** What the evidence of a world is now. */
function stateOf({ claims, aliases, keys }: World): string {
  let text = '';
  for (const one of claims) {
    const flags = [one.isRegistered, one.isFinal, one.isFailed, one.isLost, one.proof !== null, one.proofKey !== null];
    text += String.fromCharCode(flags.reduce((bits, flag) => bits * 2 + (flag ? 1 : 0), 1));
  }
  for (const [handle, { now, final }] of aliases) text += `${handle}${now}${final}`;
  for (const [did, { now, final }] of keys) text += `${did}${now}/${final}`;
  return text;
}

/** Leaves out steps, the last first, as long as some rule is broken. */
function shrink(model: Model, steps: readonly Step[]): readonly Step[] {
  for (let i = steps.length - 1; i >= 0; i--) {
    const fewer = steps.filter((_, at) => at !== i);
    if (broken(model, fewer) !== undefined) return shrink(model, fewer);
  }
  return steps;
}

/** A broken rule in words. */
export function describeBroken({ seed, rule, steps }: Broken): string {
  const lines = steps.map(({ kind, ...rest }) => `  ${kind} ${Object.values(rest).join(', ')}`);
  return [`SEED=${seed}: ${rule}`, ...lines].join('\n');
}

/**
 * Draws a history. Most are about one person's credentials and one address only, where rare orders are not rare: a third
 * with one key, a third with keys that come and go.
 */
export function drawHistory(draw: Draw): Step[] {
  const about = (['all', 'one key', 'keys'] as const)[draw.below(3)] as About;
  const drawn = Array.from({ length: 1 + draw.below(STEPS_MAX) }, () => drawStep(draw, about));
  // What nearly happens by itself in life, and hardly ever by chance.
  if (about !== 'all' && draw.below(2) === 0) return drawStory(draw, about, drawn);
  return drawn;
}

/** An owner's life: some of its steps, with others in between. */
function drawStory(draw: Draw, about: About, others: Step[]): Step[] {
  const did = 'did:alice:1';
  const keys = about === 'keys' ? [keyOf('alice'), secondKeyOf('alice')] : [keyOf('alice')];
  const claim = (proof: 'none' | 'signed'): Step => {
    const key = keys[draw.below(keys.length)] as string;
    return {
      kind: 'post',
      by: 'alice',
      identifier: 'email:alice',
      did,
      credentialId: credentialOfKey(key),
      proof,
      key,
    };
  };
  const change = (kind: 'add key' | 'remove key', i: number): Step[] =>
    about === 'keys' ? [{ kind, did, key: keys[i] as string }] : [];
  const before: Step[] = [{ kind: 'mine', did: 'did:thief:1', handle: null }, { kind: 'finalize' }];
  const life: Step[] = [
    ...(draw.below(2) === 0 ? before : []),
    { kind: 'mine', did, handle: null },
    ...change('add key', 1),
    claim('none'),
    claim('signed'),
    { kind: 'finalize' },
    ...change('remove key', 0),
    { kind: 'finalize' },
  ];
  return life.flatMap((step) => {
    const between = draw.below(3) === 0 ? others.splice(0, 1) : [];
    return draw.below(12) === 0 ? between : [step, ...between];
  });
}

const STEPS_MAX = 14;
type About = 'all' | 'one key' | 'keys';

/** Honest people claim what is theirs; the thief claims anything, with any transaction and any proof. */
function drawStep(draw: Draw, about: About): Step {
  const pick = <T>(all: readonly T[]): T => all[draw.below(all.length)] as T;
  const isNarrow = about !== 'all';
  const dids = isNarrow ? NARROW_DIDS : DIDS;
  if (about !== 'one key' && draw.below(about === 'keys' ? 3 : 10) === 0) return drawKeyStep(draw, dids);
  const dice = draw.below(24);
  if (dice < 4) return { kind: 'mine', did: pick(dids), handle: pick([null, null, ...HANDLES]) };
  if (dice < 7) return { kind: 'finalize' };
  if (dice === 7) return { kind: 'reorg' };
  if (dice === 8) return { kind: 'time passes' };
  if (dice === 9) return { kind: 'alias moves', handle: pick(HANDLES), did: pick(dids) };
  if (dice === 10) return { kind: 'session', handle: pick(HANDLES), did: pick(dids) };
  if (dice === 11) return { kind: 'address passes', to: pick(HONEST) };
  if (dice === 12) return { kind: 'undo', claim: draw.below(6) };
  return drawPost(draw, about, dids);
}

function drawPost(draw: Draw, about: About, dids: readonly string[]): Step {
  const pick = <T>(all: readonly T[]): T => all[draw.below(all.length)] as T;
  const isThief = draw.below(5) < 2;
  const by = isThief ? 'thief' : about !== 'all' ? 'alice' : pick(HONEST);
  const proof = pick(isThief ? THIEFS_PROOFS : HONEST_PROOFS);
  const key = about === 'one key' ? keyOf(by) : pick(KEYS.filter((one) => signersOf(one).includes(by)));
  const identifier = pick([...HANDLES, MAILS[0], `email:${by}`]);
  const anyone = about === 'all' ? CREDENTIALS : about === 'keys' ? ALICES : ALICES.slice(0, 1);
  return {
    kind: 'post',
    by,
    identifier,
    did: pick(isThief ? dids : didsOf(by)),
    // Hardly anyone names another passkey than the one that signs.
    credentialId: isThief || draw.below(8) === 0 ? pick(anyone) : credentialOfKey(key),
    proof,
    key,
    isReal: !isThief || draw.below(4) > 0,
    isRelayed: proof === 'signed' && draw.below(2) === 0 && identifier.startsWith('email:'),
  };
}

/** Owners add and remove their own keys; the thief takes anyone's for an account of its own. */
function drawKeyStep(draw: Draw, dids: readonly string[]): Step {
  const did = dids[draw.below(dids.length)] as string;
  const keys = KEYS.filter((key) => ownerOf(did) === 'thief' || key.endsWith(` of ${ownerOf(did)}`));
  const kind = draw.below(2) === 0 ? 'add key' : 'remove key';
  return { kind, did, key: keys[draw.below(keys.length)] as string };
}

const ALICES = [keyOf('alice'), secondKeyOf('alice')].map(credentialOfKey);
const NARROW_DIDS = ['did:alice:1', 'did:alice:2', 'did:thief:1'];
const HONEST_PROOFS = ['none', 'signed'] as const;
const THIEFS_PROOFS = ['none', 'signed', 'signed', 'forged'] as const;
