import { CLOCK_STILL_MS, selectClocks } from '../db/clocks.ts';
import type { Platform } from '../platform.ts';
import { selectDatabaseNow, selectDueLooks, selectPace } from './store.ts';

/** What the database knows that checks of other things need. */
export interface StoredFacts {
  /** Registrations relayed in the last seven days. */
  readonly relaysOfWeek: number;
  /** The gas of a relay, of the newest transactions; undefined of none. */
  readonly relayGas: number | undefined;
  /** When the tables were made, in milliseconds. */
  readonly createdAt: number | undefined;
  /** How far this machine's clock is ahead of the database's, in milliseconds. */
  readonly aheadMs: number;
  /** How far the clock of each process that runs on the database is ahead of the database's. */
  readonly processesAheadMs: readonly number[];
  /** Looks at accounts that are due, because something changed and by the time since the last; absent if unknown. */
  readonly looks?: { readonly changed: number; readonly routine: number } | undefined;
}

/** Reads them, also from a database that another process serves. */
export async function readStoredFacts({ db, clock }: Pick<Platform, 'db' | 'clock'>): Promise<StoredFacts> {
  const asked = clock.now();
  const [time] = await db.read(selectDatabaseNow());
  const answered = clock.now();
  const now = Number(time?.['now']);
  const [[rate], clocks, [looks]] = await Promise.all([
    db.read(selectPace(answered)),
    db.read(selectClocks()),
    // The tables may be those of a former version yet.
    db.read(selectDueLooks(answered)).catch(() => []),
  ]);
  const [gas, created] = [rate?.['gas'] ?? null, rate?.['created'] ?? null];
  return {
    relaysOfWeek: Number(rate?.['week'] ?? 0),
    relayGas: gas === null ? undefined : Number(gas),
    createdAt: created === null ? undefined : Number(created),
    aheadMs: (asked + answered) / 2 - now,
    processesAheadMs: clocks
      .filter((row) => Number(row['written_at']) > now - CLOCK_STILL_MS)
      .map((row) => Number(row['at']) - Number(row['written_at'])),
    looks: looks && { changed: Number(looks['changed']), routine: Number(looks['routine']) },
  };
}
