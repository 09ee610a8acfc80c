import type { LibsqlFault } from '../../support/hostile/libsql-proxy.ts';
import { type Fault, type FaultPlace, fault, untilMet } from '../../support/torture/faults/fault.ts';
import type { World } from '../worlds.ts';

const ANSWERS: readonly LibsqlFault[] = ['refuse', 'cut', 'lose', 'halve', 'garble', 20, 200];
const PER_THOUSAND = 150;

/** What happens to the libSQL server, and on the way to it. */
export function serverFaults({ world }: FaultPlace<World>): Fault[] {
  const { libsql } = world;
  if (libsql === undefined) return [];
  const during = async (ms: number, trouble: typeof libsql.proxy.trouble) => {
    let met = 0;
    libsql.proxy.trouble = (request) => {
      const one = trouble?.(request);
      if (one !== undefined) met++;
      return one;
    };
    const isMet = await untilMet(world.time, ms, () => met);
    libsql.proxy.trouble = undefined;
    return isMet;
  };
  return [
    fault('the libSQL server is killed', async (draw) => {
      process.kill(libsql.server.pid, 'SIGKILL');
      await libsql.server.stop();
      await Bun.sleep(draw.below(1_500));
      await libsql.restart();
    }),
    fault('the libSQL server is restarted', async () => {
      await libsql.server.stop();
      await libsql.restart();
    }),
    fault('the libSQL server hangs', async (draw) => {
      process.kill(libsql.server.pid, 'SIGSTOP');
      await Bun.sleep(1_000 + draw.below(5_000));
      process.kill(libsql.server.pid, 'SIGCONT');
    }),
    fault('answers of the libSQL server are lost, cut and garbled', (draw) =>
      during(1_500 + draw.below(1_500), () =>
        draw.below(1_000) < PER_THOUSAND ? ANSWERS[draw.below(ANSWERS.length)] : undefined,
      ),
    ),
    fault('the libSQL server swallows what it is asked', (draw) =>
      during(1_000 + draw.below(1_000), () => (draw.below(1_000) < PER_THOUSAND ? 'swallow' : undefined)),
    ),
  ];
}
