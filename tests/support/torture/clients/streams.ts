import { OPERATOR, openStream } from '../../events.ts';
import { ipOf } from '../asking.ts';
import type { ClientPlace } from './client.ts';

/** A reader of the event stream, which goes from vault to vault and resumes where it was. */
export interface StreamReader {
  /** The ids of all events that it was shown, in order. */
  readonly ids: readonly number[];
  /** How often it resumed. */
  resumed(): number;
  /** Resolves once it has seen the event with this id, or after so long. */
  until(id: number, ms: number): Promise<boolean>;
  end(): Promise<void>;
}

const TURN_MS = 4_000;
const CHANNELS = 'audit,sessions,credentials,payments,webhooks';

/** Starts one. Each turn it reads for some seconds, then leaves and resumes, at times in the midst of a page. */
export function startReader(place: ClientPlace): StreamReader {
  const { asking, draw, ledger, world } = place;
  const { time } = world;
  const ids: number[] = [];
  let [isOver, resumed] = [false, 0];

  async function turn(): Promise<void> {
    const member = asking.any();
    const body = { app: 'default' };
    const minted = await asking.once(member, { path: '/v1/console/token', ip: ipOf(1), body, headers: OPERATOR });
    if (minted.status !== 200) return time.sleep(100);
    const last = ids.at(-1);
    const place = last === undefined ? {} : { last_event_id: String(last) };
    const query = { channel: CHANNELS, token: minted.body.token, ...place };
    const client = await openStream('', query, {}, (path, init) => member.fetch(path, init));
    if (last !== undefined) resumed++;
    let seen = 0;
    const take = () => {
      for (const { id, event } of client.frames.slice(seen)) {
        seen++;
        if (event === 'rewind-required') ledger.violate('streams have no gap', `rewind after ${ids.at(-1)}`);
        else if (id !== undefined) show(Number(id));
      }
    };
    const ends = time.now() + 200 + draw.below(TURN_MS);
    const ended = client.ended.then(() => true);
    while (!isOver && time.now() < ends && !(await Promise.race([ended, time.sleep(50)]))) take();
    client.close();
    await ended;
    take();
  }

  function show(id: number): void {
    if (id <= (ids.at(-1) ?? 0)) ledger.violate('streams repeat nothing', `${id} after ${ids.at(-1)}`);
    ids.push(id);
  }

  const running = (async () => {
    while (!isOver) await turn().catch(() => time.sleep(100));
  })();
  return {
    ids,
    resumed: () => resumed,
    async until(id, ms) {
      for (const end = time.now() + ms; time.now() < end; await time.sleep(50)) {
        if ((ids.at(-1) ?? 0) >= id) return true;
      }
      return false;
    },
    async end() {
      isOver = true;
      await running;
    },
  };
}
