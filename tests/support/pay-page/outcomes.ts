// What `GET /pay/outcome` answers of a payment, as it was recorded (`tests/routes/pay-outcome-recorded.test.ts`).
import type { Outcome } from '../../../assets/wallet/judge.ts';
import recorded from './outcomes.json';

/** How a payment stands on the chain, by the names of the recording. */
export type OutcomeName = keyof typeof recorded;

/** The names of all that was recorded. */
export const OUTCOME_NAMES = Object.keys(recorded) as readonly OutcomeName[];

/** What an answer is about: from which block it was asked, when what was signed ends, and the hash of it. */
export interface About {
  readonly since: number;
  readonly end: number;
  readonly userOpHash: string;
}

/** One answer, and what it was about. */
export interface Recorded {
  readonly about: About;
  readonly outcome: Outcome;
}

/** The answer as it was recorded. */
export function recordedOf(name: OutcomeName): Recorded {
  return recorded[name] as Recorded;
}

/** The same answer about another payment: as many blocks after the one asked for, and as long before or after its end. */
export function outcomeOf(name: OutcomeName, about: About): Outcome {
  const { about: then, outcome } = recordedOf(name);
  const [blocks, seconds] = [about.since - then.since, about.end - then.end];
  const moved = (block: { readonly number: number; readonly time: number }) => ({
    number: block.number + blocks,
    time: block.time + seconds,
  });
  const { head, final, next, operation } = outcome;
  return {
    ...outcome,
    head: moved(head),
    final: final && moved(final),
    next: next + blocks,
    operation: operation && {
      ...operation,
      userOpHash: about.userOpHash as `0x${string}`,
      block: operation.block + blocks,
    },
  };
}

/** What an answer says, without its numbers: in which order things are, and what is what. */
export function sayingOf({ about: { since, end, userOpHash }, outcome }: Recorded): object {
  const { head, final, next, operation, ...rest } = outcome;
  const placeOf = ({ number, time }: Outcome['head']) => ({
    isLate: time > end,
    hasIt: operation === null ? null : number >= operation.block,
  });
  return {
    ...rest,
    head: placeOf(head),
    final: final && { ...placeOf(final), isBehind: final.number < head.number },
    next: [next >= since, next >= (final ?? head).number],
    operation: operation && {
      ...operation,
      userOpHash: operation.userOpHash === userOpHash,
      txHash: /^0x[0-9a-f]{64}$/.test(operation.txHash),
      block: operation.block >= since,
    },
  };
}
