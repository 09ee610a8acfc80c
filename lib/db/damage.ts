import type { Damage, Database } from './database.ts';
import { isDamaged } from './errors.ts';
import { isRead } from './read-batches.ts';

/**
 * The database that takes no writes once an answer or its host has said that it is damaged: a unique text whose page is
 * gone would be given to another. It is still read: a read of a page that is gone fails by itself. `report` is called
 * once, as the first call fails.
 */
export function refuseOnceDamaged(database: Database, damage: Damage, report: (found: string) => void): Database {
  function fail(error: unknown): never {
    if (isDamaged(error) && !damage.isReported) {
      damage.found ??= error.message;
      damage.isReported = true;
      report(damage.found);
    }
    throw error;
  }
  const refuse = async (): Promise<never> => {
    // By the engine's code for it.
    throw Object.assign(new Error(damage.found), { code: 'SQLITE_CORRUPT' });
  };
  return {
    ...(database.protocol === undefined ? {} : { protocol: database.protocol }),
    execute: (one) => (damage.found !== undefined && !isRead(one.sql) ? refuse() : database.execute(one)).catch(fail),
    batch: (statements, mode) =>
      (damage.found !== undefined && mode === 'write' ? refuse() : database.batch(statements, mode)).catch(fail),
  };
}
