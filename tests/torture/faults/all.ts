import type { Fault, FaultPlace } from '../../support/torture/faults/fault.ts';
import { processFaults } from '../../support/torture/faults/processes.ts';
import { upstreamFaults } from '../../support/torture/faults/upstreams.ts';
import type { World } from '../worlds.ts';
import { diskFaults } from './disks.ts';
import { powerFaults } from './power.ts';
import { serverFaults } from './servers.ts';

/** Everything that can go wrong. */
export function allFaults(place: FaultPlace<World>): Fault[] {
  return [processFaults, diskFaults, powerFaults, upstreamFaults, serverFaults].flatMap((faults) => faults(place));
}
