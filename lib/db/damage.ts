import type { Damage, Database } from './database.ts';
import { isDamaged } from './errors.ts';
import { isRead } from './read-batches.ts';

/**
 * A database that takes no writes once an answer or its host has reported damage: a unique text on a lost page would be
 * given to another. Reads go on; a read of a lost page fails by itself. `report` is called once, as the first call
 * fails.
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
