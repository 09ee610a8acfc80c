import { Database as Connection } from 'bun:sqlite';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { isBusy } from '../../lib/db/errors.ts';
import { giveToOwnerOf } from '../storage/durable.ts';

/** Runs `work` while no other process does so in this data directory; the system gives the lock back after a kill. */
export async function whileAlone<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const path = join(dataDir, 'backup.lock');
  closeSync(openSync(path, 'a', 0o600));
  giveToOwnerOf(path, dataDir);
  const connection = new Connection(path, { readwrite: true, create: false, strict: true });
  try {
    lock(connection);
    return await work();
  } finally {
    connection.close();
  }
}

function lock(connection: Connection): void {
  try {
    connection.run('PRAGMA busy_timeout = 0');
    connection.run('BEGIN EXCLUSIVE');
  } catch (error) {
    if (isBusy(error)) throw new Error('another vault backup is under way', { cause: error });
    throw error;
  }
}
