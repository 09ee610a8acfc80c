import { pick } from '../ledger.ts';
import { type Fault, type FaultPlace, fault } from './fault.ts';

const HOUR_MS = 3_600_000;
/** Behind and ahead, by more than any lease, window or life of a code. */
const JUMPS_MS = [-26, -1, 1, 3, 26].map((hours) => hours * HOUR_MS).concat(20 * 60_000, -90_000);

/** What happens to a process: it is killed, asked to end, stopped for a while, and its clock is set. */
export function processFaults({ world }: FaultPlace): Fault[] {
  const { members, time } = world;
  return [
    fault('kill -9', async (draw) => (await pick(draw, members).end('SIGKILL')) !== undefined),
    fault('SIGTERM', async (draw) => (await pick(draw, members).end('SIGTERM')) !== undefined),
    fault('all are killed at once', () => Promise.all(members.map((member) => member.end('SIGKILL')))),
    fault('SIGSTOP and SIGCONT', async (draw) => {
      const member = pick(draw, members);
      member.pause();
      if (!member.isPaused) return false;
      await time.sleep(200 + draw.below(4_000));
      member.resume();
      return true;
    }),
    fault(
      'a clock jumps by hours',
      async (draw) => {
        const member = pick(draw, members);
        member.turnClock(pick(draw, JUMPS_MS));
        // At times it starts with the wrong clock, and at times it dies with what it wrote by it.
        if (draw.below(2) === 0) await member.end('SIGKILL');
        await time.sleep(1_500 + draw.below(2_500));
        if (draw.below(2) === 0) await member.end('SIGKILL');
        member.turnClock(0);
      },
      members.length > 1 ? undefined : 'only one of two clocks jumps',
    ),
  ];
}
