import { systemClock } from '../lib/clock.ts';
import type { Context } from '../lib/context.ts';
import { createStore } from '../lib/db/store.ts';
import { createMetrics } from '../lib/metrics.ts';
import type { Arguments } from './arguments.ts';
import { openExisting } from './database.ts';
import { checkSettings, previewSettings } from './settings.ts';

/** What a command that works on stored rows needs of a vault. */
export type StoredVault = Pick<Context, 'config' | 'clock' | 'db'>;

/** Runs `work` on the database of the settings, whether a vault runs on it or not. Throws as `openExisting` does. */
export async function onStore<T>(given: Arguments, work: (vault: StoredVault) => Promise<T>): Promise<T> {
  const config = checkSettings(previewSettings(given).settings);
  const database = await openExisting(config);
  const { databaseMaxConnections: maxConnections } = config;
  const db = createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections });
  try {
    return await work({ config, clock: systemClock, db });
  } finally {
    database.close();
  }
}
