import type { Draw } from '../../support/draw.ts';
import { SLOTS } from './keys.ts';
import type { Plant, Sizes } from './options.ts';

/** How many routers there are, each with a map of its own of where keys are. */
export const ROUTERS = 4;

/** Which shard has which keys, while keys move to further shards. */
export interface Moves {
  readonly counts: Record<'slot moved' | 'mover died' | 'router had an old map' | 'slot was frozen', number>;
  ownerOf(slot: number): number;
  /** Whether a router's message reaches the shard of a slot: `aside` is a shard that has given it away. */
  reach(router: number, slot: number): 'there' | 'aside' | 'refused';
  /** The mover's next step: freezes a slot, copies it, hands it over. It may die after each; another goes on. */
  step(draw: Draw): void;
}

/** All slots on the first quarter of the shards; the moves spread them over all. */
export function openMoves({ shards, moveOneIn }: Sizes, plant: Plant | undefined): Moves {
  const first = Math.max(1, shards >> 2);
  const owner = Uint8Array.from({ length: SLOTS }, (_, slot) => slot % first);
  const maps = Array.from({ length: ROUTERS }, () => owner.slice());
  const counts = { 'slot moved': 0, 'mover died': 0, 'router had an old map': 0, 'slot was frozen': 0 };
  /** Kept in the store of the mover, so that it survives it. */
  let frozen = -1;
  return {
    counts,
    ownerOf: (slot) => owner[slot] ?? 0,
    reach(router, slot) {
      const map = maps[router] as Uint8Array;
      if (map[slot] !== owner[slot]) {
        counts['router had an old map']++;
        if (plant === 'stale-map') return 'aside';
        // The shard says no; the router reads the map again.
        map[slot] = owner[slot] ?? 0;
        return 'refused';
      }
      if (slot !== frozen) return 'there';
      counts['slot was frozen']++;
      return plant === 'move-unfrozen' ? 'aside' : 'refused';
    },
    step(draw) {
      if (draw.below(8) === 0) counts['mover died']++;
      else if (frozen < 0) {
        const slot = draw.below(SLOTS);
        if (owner[slot] !== slot % shards && draw.below(moveOneIn) === 0) frozen = slot;
      } else {
        owner[frozen] = frozen % shards;
        frozen = -1;
        counts['slot moved']++;
      }
    },
  };
}
