import { systemClock } from '../../lib/base/clock.ts';
import { describeError, type Log } from '../../lib/base/log.ts';
import type { Config } from '../../lib/config/config.ts';
import type { Damage, Database } from '../../lib/db/database.ts';
import type { DatabaseLog } from '../../lib/monitoring/process-metrics.ts';
import { isEmbedded } from '../setup/settings.ts';
import type { OpenFile } from '../storage/connection.ts';
import { databaseOf, openDatabase, openFile } from '../storage/database.ts';
import { type LogWatch, watchLog } from '../storage/log-watch.ts';
import type { WriterThread } from '../storage/writer-thread.ts';

/** The database of a vault that serves. */
export interface ServingDatabase extends Database {
  /** From now on a thread writes the embedded database, whose log is watched; before it, only migrations write. */
  startWriter(): void;
  /** Reads the whole embedded database in the background, if the last process on it did not close it. */
  startCheck(): Promise<void>;
  /** How the log of the embedded database is, once it is watched. */
  readonly readLog: () => DatabaseLog | undefined;
  /** Resolves with the reason once nothing can be written any more. */
  readonly ended: Promise<Error>;
  close(): Promise<void>;
}

/** Opens the database of the settings. Throws as `openDatabase` does. */
export async function openServing(config: Config, log: Log): Promise<ServingDatabase> {
  if (!isEmbedded(config.databaseUrl)) return onServer(config);
  const database = openFile(databaseOf(config));
  const ended = Promise.withResolvers<Error>();
  let thread: Promise<WriterThread> | undefined;
  let watch: LogWatch | undefined;
  const damage: Damage = {};
  // The next start knows it by the log.
  let needsCheck = database.file.wasLeftOpen;
  return {
    execute: database.execute,
    batch: database.batch,
    damage,
    startWriter() {
      const starting = startThread(database.file, log);
      thread = starting;
      // Writes wait until the thread runs.
      database.writeOn({ run: async (task, statements) => (await starting).run(task, statements) });
      starting.then((writer) => writer.ended).then(ended.resolve, ended.resolve);
      watch = watchLog({ file: database.file, execute: database.execute, clock: systemClock, log });
    },
    readLog: () => watch?.read(),
    async startCheck() {
      if (needsCheck) needsCheck = !(await checkFile(database.file, damage, log));
    },
    ended: ended.promise,
    async close() {
      watch?.stop();
      const writer = await thread?.catch(() => undefined);
      const keepsLog = needsCheck || damage.found !== undefined;
      // The thread knows the state of the log only as it was at the start.
      if (keepsLog || database.file.wasLeftOpen) await writer?.close();
      // The last to close folds it into the file, for which the disk may need its time.
      database.close(keepsLog);
      await writer?.close();
    },
  };
}

/** Loaded here, as commands never need it. */
async function startThread(file: OpenFile, log: Log): Promise<WriterThread> {
  const { startWriter } = await import('../storage/writer-thread.ts');
  const thread = await startWriter(file);
  log({ level: 'info', event: 'writer_started' });
  return thread;
}

/** Whether the file was found whole. */
async function checkFile(file: OpenFile, damage: Damage, log: Log): Promise<boolean> {
  const start = systemClock.monotonic();
  try {
    const { checkBeside } = await import('../storage/check.ts');
    const found = await checkBeside(file);
    if (found !== undefined) damage.found ??= `PRAGMA quick_check: ${found}`;
    const ms = Math.round(systemClock.monotonic() - start);
    log({ level: 'info', event: 'database_checked', found: damage.found ?? 'ok', ms });
    return found === undefined;
  } catch (error) {
    log({ level: 'warn', event: 'database_not_checked', ...describeError(error) });
    return false;
  }
}

async function onServer(config: Config): Promise<ServingDatabase> {
  const database = await openDatabase(databaseOf(config));
  return {
    // Tells the store that reads may share a request.
    protocol: 'http',
    execute: (statement) => database.execute(statement),
    batch: (statements, mode) => database.batch(statements, mode),
    startWriter: () => undefined,
    startCheck: () => Promise.resolve(),
    readLog: () => undefined,
    ended: new Promise(() => undefined),
    close: async () => database.close(),
  };
}
