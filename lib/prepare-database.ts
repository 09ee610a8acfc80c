import type { Clock } from './base/clock.ts';
import type { Config } from './config/config.ts';
import type { Database } from './db/database.ts';
import { retryBusy } from './db/errors.ts';
import { type Begins, migrate } from './db/migrations.ts';
import type { Migration } from './db/schema.ts';
import { startWebhooks } from './webhooks/store.ts';

/**
 * Makes the tables, and where webhooks are set up notes the event that they begin after: noted later, some acknowledged
 * events would never be posted. Calls `begins` before each migration of a database that is not new. Returns the
 * migrations that this call applied. Throws as `migrate`.
 */
export async function prepareDatabase(
  database: Database,
  clock: Clock,
  { webhookUrl }: Pick<Config, 'webhookUrl'>,
  begins?: Begins,
): Promise<readonly Migration[]> {
  const applied = await migrate(database, clock, undefined, begins);
  if (webhookUrl !== undefined)
    await retryBusy(clock, () => database.batch([{ ...startWebhooks(), args: {} }], 'write'));
  return applied;
}
