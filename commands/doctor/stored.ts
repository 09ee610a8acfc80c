import { existsSync } from 'node:fs';
import { systemClock } from '../../lib/base/clock.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import { once } from '../../lib/base/once.ts';
import type { Config } from '../../lib/config/config.ts';
import { createStore } from '../../lib/db/store.ts';
import { readStoredFacts, type StoredFacts } from '../../lib/doctor/stored.ts';
import { isEmbedded } from '../setup/settings.ts';
import { filePath, openExisting } from '../storage/database.ts';

/** The facts in the database of the settings; undefined where there is none yet. Rejects if it cannot be read. */
export function storedFacts(config: Config): () => Promise<StoredFacts | undefined> {
  return once(async () => {
    if (isEmbedded(config.databaseUrl) && !existsSync(filePath(config.databaseUrl))) return undefined;
    const database = await openExisting(config);
    const { databaseMaxConnections: maxConnections } = config;
    const db = createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections });
    try {
      return await readStoredFacts({ db, clock: systemClock });
    } finally {
      database.close();
    }
  });
}
