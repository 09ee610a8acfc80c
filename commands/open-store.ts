import { systemClock } from '../lib/base/clock.ts';
import { createMetrics } from '../lib/base/metrics.ts';
import type { Context } from '../lib/context.ts';
import type { Database } from '../lib/db/database.ts';
import { createStore } from '../lib/db/store.ts';
import { actingStore, COMMAND_OPERATOR } from '../lib/events/acting.ts';
import type { Arguments } from './cli/arguments.ts';
import { checkSettings, previewSettings } from './setup/settings.ts';
import { openExisting } from './storage/database.ts';

/** The parts of a vault that a command on stored rows needs. */
export type StoredVault = Pick<Context, 'config' | 'clock' | 'db'>;

/** Runs `work` on the database of the settings, whether a vault runs on it or not. Throws as `openExisting` does. */
export async function onStore<T>(
  given: Arguments,
  work: (vault: StoredVault, database: Database) => Promise<T>,
): Promise<T> {
  const config = checkSettings(previewSettings(given).settings);
  const database = await openExisting(config);
  const { databaseMaxConnections: maxConnections } = config;
  const own = createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections });
  const db = actingStore(own, COMMAND_OPERATOR);
  try {
    return await work({ config, clock: systemClock, db }, database);
  } finally {
    database.close();
  }
}
