import { systemClock } from '../../lib/base/clock.ts';
import type { Log } from '../../lib/base/log.ts';
import type { Config } from '../../lib/config/config.ts';
import type { Database } from '../../lib/db/database.ts';
import { isEmbedded } from '../setup/settings.ts';
import { cacheOfMemory } from '../storage/cache.ts';
import { databaseOf, filePath, openDatabase, openFile } from '../storage/database.ts';
import { beginReadyMade, type Laying } from '../storage/ready-made.ts';
import { createWriting, type Writing } from '../storage/writing.ts';

/** The database of a vault that serves. */
export interface ServingDatabase extends Database {
  /** How many migrations its file was made with, where it was made just now. */
  readonly migrationsMade: number;
  /** Until then nothing may be said of it: a loss of power could take a file that was made just now. */
  readonly durable: Promise<void>;
  /** Where the writes of the embedded database run; undefined on a server. */
  writing(): Writing | undefined;
  /** Chooses where they run, and starts that. */
  chooseWriter(): Promise<void>;
  startWriter(): void;
  /** Resolves with the reason once nothing can be written any more. */
  readonly ended: Promise<Error>;
  close(): Promise<void>;
}

/** Begins to make the file of an embedded database where there is none; `openServing` takes what comes of it. */
export function beginFile({ databaseUrl }: Config): Laying | undefined {
  return isEmbedded(databaseUrl) ? beginReadyMade(filePath(databaseUrl), systemClock.now()) : undefined;
}

/** Opens the database of the settings. Throws as `openDatabase` does. */
export async function openServing(config: Config, log: Log, laying = beginFile(config)): Promise<ServingDatabase> {
  if (laying === undefined) return onServer(config);
  const { migrations: migrationsMade, durable } = await laying.finish();
  const database = openFile(databaseOf(config));
  const writing = createWriting(database, {
    choice: config.databaseWriter,
    ...(config.databaseCacheMb === undefined && { aloneCacheMb: cacheOfMemory() }),
    log,
  });
  return {
    execute: database.execute,
    batch: database.batch,
    migrationsMade,
    durable,
    writing: writing.state,
    chooseWriter: writing.choose,
    startWriter: writing.start,
    ended: writing.ended,
    close: writing.close,
  };
}

async function onServer(config: Config): Promise<ServingDatabase> {
  const database = await openDatabase(databaseOf(config));
  return {
    // By it the store knows that reads may share a request.
    protocol: 'http',
    execute: (statement) => database.execute(statement),
    batch: (statements, mode) => database.batch(statements, mode),
    migrationsMade: 0,
    durable: Promise.resolve(),
    writing: () => undefined,
    chooseWriter: async () => undefined,
    startWriter: () => undefined,
    ended: new Promise(() => undefined),
    close: async () => database.close(),
  };
}
