import type { Fault, FaultPlace } from './fault.ts';
import { processFaults } from './processes.ts';

/** Everything that can go wrong. */
export function allFaults(place: FaultPlace): Fault[] {
  return [...processFaults(place)];
}
