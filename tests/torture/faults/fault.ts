import type { Draw } from '../../support/draw.ts';
import type { Monitor } from '../monitor.ts';
import type { World } from '../worlds.ts';

/** One kind of thing that goes wrong. */
export interface Fault {
  readonly name: string;
  /** Why it cannot happen in this world or on this machine; undefined if it can. */
  readonly impossible?: string | undefined;
  /** Makes it happen, waits while it lasts, and ends it. */
  strike(draw: Draw): Promise<void>;
  /** How often it did. */
  fired(): number;
}

/** What faults are made of. */
export interface FaultPlace {
  readonly world: World;
  readonly monitor: Monitor;
}

/** A fault that counts its strikes. */
export function fault(name: string, strike: (draw: Draw) => Promise<unknown>, impossible?: string): Fault {
  let count = 0;
  return {
    name,
    impossible,
    async strike(draw) {
      // One that could not be made did not happen.
      if ((await strike(draw)) !== false) count++;
    },
    fired: () => count,
  };
}
