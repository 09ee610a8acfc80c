import { NETWORK_SHARE_PERCENT } from '../../../lib/constants.ts';
import { SHARE_MIN } from '../../../lib/limits/limit.ts';

/** Faults that are planted in the rules, and what each breaks. Each must be found. */
export const PLANTS = {
  'no-withdrawal': 'what was held for a claim is released, and the claim may still be written',
  'release-by-count': 'a use of a budget is given back without looking whether it is still held',
  'release-when-written': 'a second try that finds its claim written gives the use of the budget back',
  'refuse-unasked': 'a claim is refused, and what it held released, while another try of it may still be written',
  'check-then-write': 'an identifier is checked at first, and written later without a check',
  'answer-early': 'a claim is answered before its row is written',
  'no-reservation': 'a credential is written last, without a reservation before',
  'drop-reserved': 'what was reserved for long is released without asking whether the claim was written',
  'portion-twice': 'a portion of the budget is added again when its answer was lost',
  'portion-kept': 'what is left of a portion is spent on the next day',
  'stale-map': 'a shard writes keys that have moved to another',
  'move-unfrozen': 'a shard writes keys while they are copied to another',
} as const;

/** The name of a planted fault. */
export type Plant = keyof typeof PLANTS;

/** A run. */
export interface Options {
  /** How many claims are to be written. */
  readonly registrations: number;
  readonly seed: number;
  readonly plant?: Plant | undefined;
  /** How many shards there are at the end; there is a quarter of them at the start. */
  readonly shards?: number;
  /** Called now and then with the number of claims that were written. */
  readonly progress?: (written: number) => void;
}

/** The sizes of a run, which follow from the number of its claims. */
export interface Sizes {
  /** Claims that may be begun: some are refused. */
  readonly claims: number;
  /** Claims that are made at the same time. */
  readonly atOnce: number;
  readonly networks: number;
  /** Claims begun in a day. */
  readonly day: number;
  readonly budget: number;
  readonly networkBudget: number;
  /** How much of the budget a shard takes at a time. */
  readonly portion: number;
  readonly shards: number;
  /** The mover begins at one of so many steps: so keys move during most of the run. */
  readonly moveOneIn: number;
}

/** A budget is a little less than a day asks for; a network's part of it is the vault's own. */
export function sizesOf({ registrations, shards = 16 }: Options): Sizes {
  const day = Math.max(2_000, Math.ceil(registrations / 20));
  const budget = Math.floor(day * 0.74);
  return {
    claims: Math.ceil(registrations * 1.5) + 20_000,
    atOnce: Math.min(2_048, Math.max(64, registrations >>> 8)),
    networks: Math.max(64, Math.ceil(registrations / 500)),
    day,
    budget,
    networkBudget: Math.max(SHARE_MIN, Math.floor((budget * NETWORK_SHARE_PERCENT) / 100)),
    portion: Math.max(1, Math.floor(budget / shards / 16)),
    shards,
    moveOneIn: Math.max(1, Math.round(registrations / 500_000)),
  };
}
