import type { Database } from './database.ts';
import { isDamaged } from './errors.ts';
import { isRead } from './read-batches.ts';

/** What was found damaged of a database: for good, until the process ends. */
export interface Damage {
  found?: string;
}

/**
 * The database that takes no writes once an answer has said that it is damaged: a unique text whose page is gone would
 * be given to another. It is still read: a read of a page that is gone fails by itself. `onFound` is called once.
 */
export function refuseOnceDamaged(database: Database, damage: Damage, onFound: (error: Error) => void): Database {
  async function watched<T>(writes: boolean, run: () => Promise<T>): Promise<T> {
    if (writes && damage.found !== undefined) throw damagedError(damage.found);
    try {
      return await run();
    } catch (error) {
      if (damage.found === undefined && isDamaged(error)) {
        damage.found = error.message;
        onFound(error);
      }
      throw error;
    }
  }

  return {
    ...(database.protocol === undefined ? {} : { protocol: database.protocol }),
    execute: (one) => watched(damage.found !== undefined && !isRead(one.sql), () => database.execute(one)),
    batch: (statements, mode) => watched(mode === 'write', () => database.batch(statements, mode)),
  };
}

/** By the engine's code for it. */
function damagedError(found: string): Error {
  return Object.assign(new Error(found), { code: 'SQLITE_CORRUPT' });
}
