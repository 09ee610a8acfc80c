import { CLIENTS_LIKE, type Ledger } from './ledger.ts';
import type { Place } from './place.ts';

/**
 * So much time passes for all vaults at once: most leases and keys of the dead lapse, pauses of retries end. Beyond a
 * minute their clocks would be wrong by the database's, and they would do no background work.
 */
export const LEAP_MS = 50_000;
/** The rest may take as long as it grows less: this long without that is for ever. A retry may have to wait so long. */
const STALLED_MS = 120_000;
const POLL_MS = 500;

/** Waits until no registration is open and each webhook has arrived; gives the newest event's id. */
export async function settle(world: Place, ledger: Ledger): Promise<number> {
  const database = await world.open();
  const first = async (sql: string) => Number((await database.execute({ sql, args: {} })).rows[0]?.['n']);
  try {
    // Readers go on, and each of their tokens is an event.
    const newest = await first('SELECT max(id) AS n FROM events');
    let [least, end] = [Number.POSITIVE_INFINITY, 0];
    for (;;) {
      const open = {
        registrations: await first(
          `SELECT count(*) AS n FROM registrations WHERE status = 'submitted' AND ${CLIENTS_LIKE}`,
        ),
        deliveries: await first(
          `SELECT count(*) AS n FROM webhook_deliveries WHERE status <> 'delivered' AND event_id <= ${newest}`,
        ),
        events: await unsent(world, database, newest),
      };
      const rest = Object.values(open).reduce((sum, count) => sum + count, 0);
      if (rest === 0) return newest;
      if (rest < least) [least, end] = [rest, world.time.now() + STALLED_MS];
      if (world.time.now() > end) {
        ledger.violate(
          'it recovers without a human',
          `for ${STALLED_MS / 1000} s there is open ${JSON.stringify(open)}: ${await waiting(database, newest, world.time.wall() + LEAP_MS)}`,
        );
        return newest;
      }
      await world.time.sleep(POLL_MS);
    }
  } finally {
    database.close();
  }
}

/** Events up to an id that were never posted. */
async function unsent(
  { receiver }: Place,
  database: Awaited<ReturnType<Place['open']>>,
  newest: number,
): Promise<number> {
  const sql = `SELECT id FROM events WHERE channel <> 'webhooks' AND id <= ${newest}`;
  const came = new Set(receiver.received.map(({ body }) => Number(body.id)));
  return (await database.execute({ sql, args: {} })).rows.filter(({ id }) => !came.has(Number(id))).length;
}

/** How the deliveries that did not arrive are, and in how many seconds the first and the last is due. */
async function waiting(database: Awaited<ReturnType<Place['open']>>, newest: number, now: number): Promise<string> {
  const sql = `SELECT status, attempts, last_error, count(*) AS n, min(next_attempt_at) AS first, max(next_attempt_at) AS last
    FROM webhook_deliveries WHERE status <> 'delivered' AND event_id <= ${newest} GROUP BY 1, 2, 3`;
  const inSeconds = (at: unknown) => (at === null ? 'never' : Math.round((Number(at) - now) / 1000));
  return (await database.execute({ sql, args: {} })).rows
    .map(({ n, status, attempts, last_error: error, first, last }) => {
      return `${n} ${status} after ${attempts} attempts (${error}), due in ${inSeconds(first)} to ${inSeconds(last)} s`;
    })
    .join('; ');
}
