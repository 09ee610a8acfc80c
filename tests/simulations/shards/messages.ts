import { type Keys, slotOf } from './keys.ts';
import type { Moves } from './moves.ts';
import type { Plant } from './options.ts';
import type { Said, Shards } from './shards.ts';

/** The messages of a claim, in the order of a claim that is written, then of one that is refused. */
export const STEPS = [
  'look',
  'take a use',
  'reserve',
  'write',
  'take a portion',
  'settle the credential',
  'settle the use',
  'withdraw',
  'release the credential',
  'release the use',
  'end',
] as const;
/** The steps by number. */
export const [LOOK, TAKE, RESERVE, WRITE, PORTION, SETTLE, SETTLE_USE, WITHDRAW, RELEASE, RELEASE_USE, END] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
] as const;
/** The shard was not reached: the same step again. */
export const AGAIN = -1;

/** Sends the message of a step, and returns the step after it. */
export type Send = (step: number, claim: number, router: number, now: number, usedOn: number) => number;

/** Messages to these shards. With `isPortionLost` the next portion's first answer is lost. */
export function openMessages(
  { keys, shards, moves, plant }: { keys: Keys; shards: Shards; moves: Moves; plant: Plant | undefined },
  isPortionLost: () => boolean,
): Send {
  const toIdentifier: Send = (step, claim, router, _, usedOn) => {
    const identifier = keys.identifierOf(claim);
    const slot = slotOf('identifier', identifier);
    const reached = moves.reach(router, slot);
    if (reached === 'refused') return AGAIN;
    if (step === LOOK) return after(shards.look(claim, identifier), claim, TAKE);
    if (step === WITHDRAW) return shards.decide(claim, identifier) ? SETTLE : RELEASE;
    if (step === PORTION) return shards.takePortion(moves.ownerOf(slot), isPortionLost()) === 'ok' ? WRITE : refusal;
    if (reached === 'aside') return after(shards.writeAside(claim, identifier, usedOn), claim, SETTLE);
    return after(shards.write(claim, identifier, moves.ownerOf(slot), usedOn), claim, SETTLE);
  };
  const toCredential: Send = (step, claim, router, now) => {
    const credential = keys.credentialOf(claim);
    if (moves.reach(router, slotOf('credential', credential)) === 'refused') return AGAIN;
    if (step === RESERVE) {
      if (plant === 'no-reservation') return WRITE;
      return shards.reserve(claim, credential, now) === 'ok' ? WRITE : refusal;
    }
    if (step === SETTLE) shards.settleCredential(claim, credential);
    else shards.releaseCredential(claim, credential);
    return step + 1;
  };
  const toNetwork: Send = (step, claim, router, now) => {
    const network = keys.networkOf(claim);
    if (moves.reach(router, slotOf('network', network)) === 'refused') return AGAIN;
    if (step === TAKE) return shards.take(claim, network, now) === 'ok' ? RESERVE : refusal;
    if (step === SETTLE_USE) shards.settleUse(claim);
    else shards.releaseUse(claim, network);
    return END;
  };
  const refusal = plant === 'refuse-unasked' ? RELEASE : WITHDRAW;
  const found = (claim: number) => {
    if (plant === 'release-when-written') shards.releaseUse(claim, keys.networkOf(claim));
    return SETTLE;
  };
  const after = (said: Said, claim: number, next: number) => {
    if (said === 'ok') return next;
    if (said === 'mine') return found(claim);
    return said === 'portion' ? PORTION : refusal;
  };
  const to = [toIdentifier, toNetwork, toCredential, toIdentifier, toIdentifier, toCredential];
  to.push(toNetwork, toIdentifier, toCredential, toNetwork);
  return (step, claim, router, now, usedOn) => to[step]?.(step, claim, router, now, usedOn) ?? END;
}
