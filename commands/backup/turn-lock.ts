import { Database as Connection } from 'bun:sqlite';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { isBusy } from '../../lib/db/errors.ts';
import { giveToOwnerOf } from '../storage/durable.ts';

/**
 * The jobs that one process at a time does in a data directory, by the name of the lock, with their names in messages.
 */
const JOBS = { backup: 'vault backup', restore: 'restore' } as const;

/**
 * Runs `work` while no other process does this job in the data directory; the system gives the lock back after a kill.
 * Throws an `Error` that says that another does.
 */
export async function whileAlone<T>(dataDir: string, job: keyof typeof JOBS, work: () => Promise<T>): Promise<T> {
  const path = join(dataDir, `${job}.lock`);
  closeSync(openSync(path, 'a', 0o600));
  giveToOwnerOf(path, dataDir);
  const connection = new Connection(path, { readwrite: true, create: false, strict: true });
  try {
    lock(connection, job);
    return await work();
  } finally {
    connection.close();
  }
}

function lock(connection: Connection, job: keyof typeof JOBS): void {
  try {
    connection.run('PRAGMA busy_timeout = 0');
    connection.run('BEGIN EXCLUSIVE');
  } catch (error) {
    if (isBusy(error)) throw new Error(`another ${JOBS[job]} is under way`, { cause: error });
    throw error;
  }
}
