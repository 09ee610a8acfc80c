import type { Person } from './world.ts';

/** A day in seconds. */
export const DAY = 86_400;

/** One thing that happens: a call, or that time passes. Keys are named by their number. */
export type Step =
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'add'; readonly by: Person; readonly key: number }
  | { readonly kind: 'remove'; readonly by: Person; readonly key: number; readonly index: number }
  | { readonly kind: 'name'; readonly by: Person; readonly index: number }
  | {
      readonly kind: 'guardian';
      readonly by: Person;
      readonly who: Person | 'none';
      readonly delay: number;
      readonly commitment: bigint;
    }
  | { readonly kind: 'cancel'; readonly by: Person }
  | { readonly kind: 'pay'; readonly by: Person }
  | { readonly kind: 'upgrade'; readonly by: Person }
  | { readonly kind: 'propose'; readonly by: Person; readonly key: number; readonly commitment: bigint }
  | { readonly kind: 'finish'; readonly by: Person }
  | {
      readonly kind: 'veto';
      readonly by: Person;
      readonly key: number;
      readonly index: number;
      readonly id: number;
      readonly proposed: number;
      readonly isOwn: boolean;
    }
  | {
      readonly kind: 'validate';
      readonly key: number;
      readonly index: number;
      readonly until: number;
      readonly isSigned: boolean;
    };
