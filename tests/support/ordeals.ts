import { afterAll, beforeAll, describe } from 'bun:test';
import { PLACES, startVictim, type Victim } from './victim.ts';

/** What was gone through, until it is ended. */
interface Ordeal {
  end(): Promise<void>;
}

const CASES = [
  { name: 'one process', processes: 1 },
  { name: 'two processes on one database', processes: 2 },
];

/**
 * Goes through an ordeal with one process and with two, and defines the tests of each. Both at the same time, since each
 * waits most of the time: for blocks, and for leases of the dead to lapse.
 */
export function testOrdeals<Suffered extends Ordeal>(
  what: string,
  suffer: (processes: number) => Promise<Suffered>,
  define: (ordeal: () => Suffered, name: string) => void,
): void {
  const ordeals = new Map<string, Suffered>();
  beforeAll(async () => {
    const suffered = await Promise.all(CASES.map(({ processes }) => suffer(processes)));
    for (const [i, ordeal] of suffered.entries()) ordeals.set(CASES[i]?.name ?? '', ordeal);
  });
  afterAll(async () => {
    for (const ordeal of ordeals.values()) await ordeal.end();
  });
  describe.each(CASES)(`${what} through $name`, ({ name }) => define(() => ordeals.get(name) as Suffered, name));
}

/** The victims of an ordeal. Each begins at another place, so that few kills reach all of them. */
export function startVictims(
  processes: number,
  options: Omit<Parameters<typeof startVictim>[0], 'firstPlace'>,
): Promise<Victim[]> {
  return Promise.all(
    Array.from({ length: processes }, (_, i) =>
      startVictim({ ...options, firstPlace: (i * PLACES.length) / processes }),
    ),
  );
}

/** How often the victims were killed, by the place. */
export function killsOf(victims: readonly Victim[]): Record<string, number> {
  return Object.fromEntries(
    PLACES.map((place) => [place, victims.reduce((sum, victim) => sum + victim.kills[place], 0)]),
  );
}
