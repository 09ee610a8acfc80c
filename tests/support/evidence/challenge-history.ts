import type { Draw } from '../draw.ts';
import {
  type Address,
  type Claim,
  challengedBy,
  keptOutTo,
  newAddress,
  release,
  renew,
  settle,
  undo,
  work,
} from './challenge-model.ts';
import type { ChallengeStore, Fault } from './challenge-store.ts';

// Random histories of one address that somebody holds with a passkey, and others claim.

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);

/** One step of a history. */
export type Step =
  | { readonly kind: 'claim'; readonly did: string; readonly hasProof: boolean }
  | { readonly kind: 'final' | 'fail' | 'undo' | 'deactivate'; readonly claim: number }
  | { readonly kind: 'hours'; readonly hours: number; readonly isChainToo: boolean }
  | { readonly kind: 'node' | 'mail'; readonly isAway: boolean }
  | { readonly kind: 'renew' | 'release' | 'work' };

/** The holder, three strangers, one with a key of the holder's and one with its controller. */
const PEOPLE: readonly (readonly [did: string, key: string, controller: string])[] = [
  ['did:holder', 'k0', '1'],
  ['did:a', 'ka', '2'],
  ['did:b', 'kb', '3'],
  ['did:c', 'kc', '4'],
  ['did:by key', 'k0', '5'],
  ['did:by controller', 'k5', '1'],
];
const DIDS = PEOPLE.map(([did]) => did);

/** Draws a history; most strangers bring a proof, wait and are seen to. */
export function drawChallenges(draw: Draw): Step[] {
  const steps: Step[] = [{ kind: 'claim', did: 'did:holder', hasProof: true }];
  if (draw.below(12) > 0) steps.push({ kind: 'final', claim: 0 });
  let claims = 1;
  for (let left = 3 + draw.below(18); left > 0; left--) {
    const dice = draw.below(20);
    const claim = draw.below(claims);
    if (dice < 7) {
      // Half of the challengers are few: so one is refused twice, and some come back.
      const at = draw.below(2) === 0 ? 1 + draw.below(2) : draw.below(PEOPLE.length);
      steps.push({ kind: 'claim', did: DIDS[at] as string, hasProof: draw.below(8) > 0 });
      if (draw.below(5) > 0) steps.push({ kind: 'final', claim: claims });
      if (draw.below(3) > 0) steps.push({ kind: 'work' });
      claims += 1;
    } else if (dice < 12) {
      const hours = [1, 25, 71, 72, 170, 800][draw.below(6)] as number;
      steps.push({ kind: 'hours', hours, isChainToo: draw.below(4) > 0 }, { kind: 'work' });
    } else if (dice < 15) steps.push({ kind: 'renew' });
    else if (dice === 15) steps.push({ kind: 'release' });
    else if (dice === 16) steps.push({ kind: draw.below(2) === 0 ? 'fail' : 'undo', claim });
    else if (dice === 17) steps.push({ kind: draw.below(3) === 0 ? 'deactivate' : 'final', claim });
    else if (dice === 18) steps.push({ kind: draw.below(2) === 0 ? 'node' : 'mail', isAway: draw.below(2) === 0 });
    else steps.push({ kind: 'work' });
  }
  return steps;
}

/** Plays a history in the model and the store; returns the first difference, with the steps that led to it. */
export async function differenceIn(store: ChallengeStore, steps: readonly Step[], fault: Fault = {}) {
  const address = newAddress(START);
  await store.clear(fault);
  for (const [at, step] of steps.entries()) {
    const told = await play(store, address, step);
    const stored = JSON.stringify(await store.state(DIDS, address.now));
    const expected = JSON.stringify(stateOf(address));
    if (told === undefined && stored === expected) continue;
    const played = steps.slice(0, at + 1).map((one) => JSON.stringify(one));
    return [...played, told ?? '', `model: ${expected}`, `vault: ${stored}`].join('\n');
  }
  return undefined;
}

/** What the model says, as `state` of the store does. */
function stateOf(address: Address): unknown {
  const { claims, challenges, holder } = address;
  const flag = (is: boolean) => (is ? 1 : 0);
  return {
    claims: claims.map((one) => [
      ...[one.did, flag(one === holder), one.waits ? 1 : one.may ? 2 : 0, flag(one.isLost), flag(one.isFailed)],
    ]),
    challenges: challenges.map((one) => [one.did, one.movesAt, one.endedAt, one.endedBy]),
    keptOut: DIDS.map((did) => keptOutTo(address, did)),
  };
}

/** Takes a step in both; says where they disagree about its outcome. */
async function play(store: ChallengeStore, address: Address, step: Step): Promise<string | undefined> {
  const { now } = address;
  switch (step.kind) {
    case 'claim':
      if (keptOutTo(address, step.did) !== null) return;
      return claim(store, address, step.did, step.hasProof);
    case 'hours':
      address.now += step.hours * HOUR;
      if (step.isChainToo) address.chainNow = address.now;
      return;
    case 'node':
      address.isNodeAway = step.isAway;
      return;
    case 'mail':
      address.isMailAway = step.isAway;
      return;
    case 'renew': {
      const [is, was] = [renew(address), await store.renew(now)];
      return is === was ? undefined : 'whether it is renewed';
    }
    case 'release': {
      const did = challengedBy(address);
      if (did !== undefined) release(address, did);
      return (await store.release(now)) === did ? undefined : 'who is let have it';
    }
    case 'work':
      await store.work(address);
      work(address);
      return;
    default:
      return change(store, address, step.kind, step.claim);
  }
}

async function claim(store: ChallengeStore, address: Address, did: string, hasProof: boolean): Promise<undefined> {
  const [, key, controller] = PEOPLE.find(([known]) => known === did) as (typeof PEOPLE)[number];
  const seen = { isFinal: false, isActive: true, isFailed: false, isLost: false, waits: false, may: false };
  const made: Claim = { did, key, controller: `0x${controller.repeat(40)}`, hasProof, ...seen };
  address.claims.push(made);
  settle(address);
  await store.claim(address.claims.length, made, address.now);
}

async function change(store: ChallengeStore, address: Address, kind: string, at: number): Promise<undefined> {
  const [one, now] = [address.claims[at], address.now];
  if (!one || one.isFailed) return;
  if (kind === 'undo') {
    undo(address, one);
    return store.undo(at + 1, now) as Promise<undefined>;
  }
  if (kind === 'final') one.isFinal = true;
  else if (kind === 'fail') one.isFailed = true;
  else one.isActive = false;
  settle(address);
  const set = { final: 'final = 1', fail: `status = 'failed'`, deactivate: 'active = 0' }[kind] as string;
  await store.change(at + 1, set, now);
}
