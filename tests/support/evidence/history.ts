import { type Draw, openDraw } from '../draw.ts';
import { check, checkOwners, checkRefusal, checkUndo } from './checks.ts';
import {
  credentialOf,
  DIDS,
  didsOf,
  HANDLES,
  HONEST,
  type Honest,
  lookAtChain,
  MAILS,
  type Model,
  newWorld,
  PEOPLE,
  post,
  type Step,
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
        checkRefusal(world, step.by as Honest, step.did, verdict);
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
function stateOf({ claims, aliases }: World): string {
  let text = '';
  for (const one of claims) {
    const flags = [one.isRegistered, one.isFinal, one.isFailed, one.isLost, one.proof !== null, one.proofKey !== null];
    text += String.fromCharCode(flags.reduce((bits, flag) => bits * 2 + (flag ? 1 : 0), 1));
  }
  for (const [handle, { now, final }] of aliases) text += `${handle}${now}${final}`;
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

/** Draws a history. Half of them are about one credential and one address only, where rare orders are not rare. */
export function drawHistory(draw: Draw): Step[] {
  const isNarrow = draw.below(2) === 0;
  return Array.from({ length: 1 + draw.below(STEPS_MAX) }, () => drawStep(draw, isNarrow));
}

const STEPS_MAX = 14;

/** Honest people claim what is theirs; the thief claims anything, with any transaction and any proof. */
function drawStep(draw: Draw, isNarrow: boolean): Step {
  const pick = <T>(all: readonly T[]): T => all[draw.below(all.length)] as T;
  const dids = isNarrow ? NARROW_DIDS : DIDS;
  const dice = draw.below(24);
  if (dice < 4) return { kind: 'mine', did: pick(dids), handle: pick([null, null, ...HANDLES]) };
  if (dice < 7) return { kind: 'finalize' };
  if (dice === 7) return { kind: 'reorg' };
  if (dice === 8) return { kind: 'time passes' };
  if (dice === 9) return { kind: 'alias moves', handle: pick(HANDLES), did: pick(dids) };
  if (dice === 10) return { kind: 'session', handle: pick(HANDLES), did: pick(dids) };
  if (dice === 11) return { kind: 'address passes', to: pick(HONEST) };
  if (dice === 12) return { kind: 'undo', claim: draw.below(6) };
  const isThief = draw.below(5) < 2;
  const by = isThief ? 'thief' : isNarrow ? 'alice' : pick(HONEST);
  const proof = pick(isThief ? THIEFS_PROOFS : HONEST_PROOFS);
  const identifier = pick([...HANDLES, MAILS[0], `email:${by}`]);
  return {
    kind: 'post',
    by,
    identifier,
    did: pick(isThief ? dids : didsOf(by)),
    credentialId: credentialOf(isNarrow ? 'alice' : isThief ? pick(PEOPLE) : by),
    proof,
    isReal: !isThief || draw.below(4) > 0,
    isRelayed: proof === 'signed' && draw.below(2) === 0 && identifier.startsWith('email:'),
  };
}

const NARROW_DIDS = ['did:alice:1', 'did:alice:2', 'did:thief:1'];
const HONEST_PROOFS = ['none', 'signed'] as const;
const THIEFS_PROOFS = ['none', 'signed', 'signed', 'forged'] as const;
