import type { Draw } from '../../draw.ts';
import type { Asking } from '../asking.ts';
import type { Ledger } from '../ledger.ts';
import type { Place } from '../place.ts';

/** What a client of the vaults works with. */
export interface ClientPlace {
  readonly world: Place;
  readonly ledger: Ledger;
  readonly asking: Asking;
  readonly draw: Draw;
  /** A number that no other client gets. */
  next(): number;
}

/** Something that a client does from beginning to end. */
export type Errand = (place: ClientPlace) => Promise<void>;

/** Whether a vault of the world has a wrong clock: what depends on the time is not judged then. */
export function isTimeOff({ world }: Pick<ClientPlace, 'world'>): boolean {
  return world.members.some((member) => member.isOff());
}

/** Asks until a vault whose clock is right answers 200, and gives the body; undefined when the torture ended before. */
// biome-ignore lint/suspicious/noExplicitAny: a client reads whatever was sent.
export async function readNow({ asking, world }: ClientPlace, path: string, ip: string): Promise<any | undefined> {
  for (;;) {
    const answer = await asking.insist({ path, ip });
    if (answer === undefined) return undefined;
    if (answer.by.isOff() && world.members.length > 1) await world.time.sleep(50);
    else return answer.status === 200 ? answer.body : { status: answer.status };
  }
}
