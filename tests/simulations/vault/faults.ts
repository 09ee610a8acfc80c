import { auditTables } from '../../support/torture/audit.ts';
import { type Fault, fault, untilMet } from '../../support/torture/faults/fault.ts';
import { processFaults } from '../../support/torture/faults/processes.ts';
import { upstreamFaults } from '../../support/torture/faults/upstreams.ts';
import { type Ledger, pick } from '../../support/torture/ledger.ts';
import type { Monitor } from '../../support/torture/monitor.ts';
import type { Member } from '../../support/torture/place.ts';
import { DISK_TROUBLES } from './disk.ts';
import { lateAndTorn } from './upstreams.ts';
import type { SimulatedWorld } from './world.ts';

const HOUR_MS = 3_600_000;
/** How long a disk is out of order at most; a full one for long enough to see through what a vault says of it. */
const [DISK_MS, FULL_MS] = [8_000, 6_000];

/** Everything that can go wrong: what the torture does to processes and upstreams, and a disk that is not there. */
export function allFaults(world: SimulatedWorld, monitor: Monitor, ledger: Ledger): Fault[] {
  const { members, disk, node, receiver, time } = world;
  const kinds = DISK_TROUBLES.filter((kind) => kind !== (world.isServer ? 'was moved' : 'loses answers'));
  return [
    ...processFaults({ world, monitor }),
    ...upstreamFaults({ world, monitor }),
    fault("the node's answers are late and torn", async (draw) => {
      node.trouble = lateAndTorn(draw, time);
      const isMet = await untilMet(time, 1_000 + draw.below(4_000), () => node.methods.length);
      node.trouble = undefined;
      return isMet;
    }),
    ...kinds.map((kind) =>
      fault(`the disk ${kind}`, async (draw) => {
        disk.trouble = kind;
        const isMet = await untilMet(time, (kind === 'is full' ? FULL_MS : 500) + draw.below(DISK_MS), disk.met);
        // At times one dies of it.
        if (draw.below(3) === 0) await pick(draw, members).end('SIGKILL');
        disk.trouble = undefined;
        return isMet;
      }),
    ),
    fault('one starts alone by a clock that is hours ahead, and the node hangs', async (draw) => {
      const holds = members.map((member) => member.hold());
      await Promise.all(members.map((member) => member.end('SIGTERM')));
      const at = draw.below(members.length);
      const one = members[at] as Member;
      const { rate } = receiver;
      receiver.rate = 700;
      // Without the newest block nobody can tell whose clock is wrong.
      node.trouble = () => new Promise(() => undefined);
      one.turnClock((1 + draw.below(3)) * HOUR_MS);
      holds[at]?.();
      await time.sleep(4_000 + draw.below(6_000));
      await one.end('SIGKILL');
      one.turnClock(0);
      receiver.rate = rate;
      node.trouble = undefined;
      for (const [i, release] of holds.entries()) if (i !== at) release();
    }),
    fault('the power goes', async (draw) => {
      await time.sleep(draw.below(1_000));
      const holds = members.map((member) => member.hold());
      await Promise.all(members.map((member) => member.end('SIGKILL')));
      disk.cutPower();
      const broken = (error: unknown) => ledger.violate('the database is whole', String(error));
      await auditTables(world, disk.database, ledger).catch(broken);
      for (const release of holds) release();
    }),
  ];
}
