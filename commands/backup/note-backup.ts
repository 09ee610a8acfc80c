import { Database as Connection } from 'bun:sqlite';
import type { Config } from '../../lib/config/config.ts';
import { noteBackup } from '../../lib/monitoring/last-backup.ts';
import { isEmbedded } from '../setup/settings.ts';
import { filePath, openExisting } from '../storage/database.ts';
import type { Manifest } from './backup-file.ts';

/**
 * Notes a backup in the database that it is of, for the alert, the console and the doctor. Resolves with the problem if
 * that fails: the backup is good all the same.
 */
export async function noteInDatabase(config: Config, manifest: Manifest, place: string): Promise<string | undefined> {
  let reader: Connection | undefined;
  try {
    const database = await openExisting(config);
    try {
      reader = holdLog(config);
      const { createdAt, bytes } = manifest;
      const { sql, args } = noteBackup({ madeAt: Date.parse(createdAt), bytes, place });
      await database.execute({ sql, args: { ...args } });
    } finally {
      database.close();
      reader?.close();
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Where another program does checkpoints: a connection that cannot write. Closed last, it keeps the one that can from
 * bringing the log into the file.
 */
function holdLog({ databaseUrl, databaseCheckpoint }: Config): Connection | undefined {
  if (databaseCheckpoint !== 'external' || !isEmbedded(databaseUrl)) return undefined;
  const reader = new Connection(filePath(databaseUrl), { readonly: true, strict: true });
  reader.query('PRAGMA user_version').get();
  return reader;
}
