import { KEY_LOOK_PAUSE_MS } from '../../../lib/registration/look-again.ts';
import type { Draw } from '../../support/draw.ts';
import { check } from '../../support/evidence/checks.ts';
import { compare, play } from '../../support/evidence/compare.ts';
import { drawHistory } from '../../support/evidence/history.ts';
import { createRequests, lookAtKeys, type Service, STEP_MS } from '../../support/evidence/service.ts';
import type { Step } from '../../support/evidence/world.ts';
import { ipOf } from '../../support/torture/asking.ts';
import type { ClientPlace } from '../../support/torture/clients/client.ts';
import type { SimulatedWorld } from './world.ts';

/** What people of the model do, step by step, to vaults that are in trouble. */
export interface History {
  readonly steps: readonly Step[];
  /** Takes a step in truth, and asks the vaults for it. */
  take(step: Step): Promise<void>;
  /** Gives the vaults the time to see the chain, and compares all that they show with the model. */
  compare(): Promise<void>;
}

/** What the looks at keys take, once they are due. */
const LOOKED_MS = KEY_LOOK_PAUSE_MS + 3_000;

/** Draws one. A vault that answers otherwise than the model says violates it. */
export async function openHistory(world: SimulatedWorld, place: ClientPlace, draw: Draw): Promise<History> {
  const { truth, disk, time, passkeys } = world;
  const call = async (line: string, fields = {}, headers = {}) => {
    const [method, path = ''] = line.split(' ');
    const query = method === 'GET' ? `?${new URLSearchParams(fields)}` : '';
    const body = method === 'POST' ? { body: fields } : {};
    const question = { path: path + query, ip: ipOf(place.next()), headers, byRightClock: true, ...body };
    const answer = await place.asking.insist(question);
    return answer ?? { status: 0, body: {}, isUnsure: true };
  };
  const service: Service = {
    ...(await createRequests({ call, now: time.wall }, passkeys)),
    relay: () => Promise.reject(new Error('the stand-in takes no transactions')),
    rows: async (sql) => disk.rows(sql),
  };
  const rows: number[] = [];
  const holds = async (what: () => Promise<void> | void) => {
    try {
      await what();
    } catch (failure) {
      place.ledger.violate('no answer is a lie', `not as the model says: ${(failure as Error).message}`);
    }
  };
  return {
    // Nothing lapses: a life is shorter than what the model calls "time passes".
    steps: drawHistory(draw)
      .filter(({ kind }) => kind !== 'time passes')
      .map((step) => ('isRelayed' in step ? { ...step, isRelayed: false } : step)),
    take: (step) =>
      holds(async () => {
        await play(service, truth, step, rows);
        world.sendAgain();
        check(truth);
      }),
    async compare() {
      await time.sleep(STEP_MS);
      await lookAtKeys(disk.database);
      await time.sleep(LOOKED_MS);
      place.ledger.checked('compared with the model');
      await holds(() => compare(service, truth, rows));
    },
  };
}
