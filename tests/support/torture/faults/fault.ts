import type { Draw } from '../../draw.ts';
import type { Monitor } from '../monitor.ts';
import type { Place, Time } from '../place.ts';

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
export interface FaultPlace<World extends Place = Place> {
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

const MET_MS = 30_000;
const POLL_MS = 50;

/** Lets a trouble last for so long, and until it was met: nobody may ask in the moment. False if nobody did. */
export async function untilMet(time: Time, ms: number, met: () => number): Promise<boolean> {
  const before = met();
  await time.sleep(ms);
  for (const end = time.now() + MET_MS; met() === before && time.now() < end; ) await time.sleep(POLL_MS);
  return met() > before;
}
