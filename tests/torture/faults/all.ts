import { diskFaults } from './disks.ts';
import type { Fault, FaultPlace } from './fault.ts';
import { powerFaults } from './power.ts';
import { processFaults } from './processes.ts';
import { serverFaults } from './servers.ts';
import { upstreamFaults } from './upstreams.ts';

/** Everything that can go wrong. */
export function allFaults(place: FaultPlace): Fault[] {
  return [processFaults, diskFaults, powerFaults, upstreamFaults, serverFaults].flatMap((faults) => faults(place));
}
