import { Database as Connection } from 'bun:sqlite';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isoTime, systemClock } from '../../lib/base/clock.ts';
import { VERSION } from '../../lib/base/version.ts';
import type { Config } from '../../lib/config/config.ts';
import { backupKey } from '../../lib/identity/keys.ts';
import type { Progress } from '../cli/progress.ts';
import { SECRET_FILES } from '../setup/secrets.ts';
import { isEmbedded } from '../setup/settings.ts';
import { databaseOf, filePath, noDatabase } from '../storage/database.ts';
import { noticeSignals } from '../storage/durable.ts';
import { openServer } from '../storage/server.ts';
import { checkContents, countRows, recordedIn } from '../storage/tables.ts';
import { type Manifest, seal } from './backup-file.ts';
import { checkRoom } from './room.ts';
import { copyEmbedded, copyRemote } from './snapshot.ts';

/** The content of a backup. */
export interface BackupOrder {
  readonly config: Config;
  readonly secrets: Manifest['secrets'];
  /** Counts the backups in a place. */
  readonly number?: number;
  readonly progress: Progress;
}

/** Throws if there is nothing to back up, or no secret to authenticate a backup with. */
export function checkSource({ databaseUrl, dataDir }: Config, unkept: readonly string[]): void {
  if (isEmbedded(databaseUrl) && !existsSync(filePath(databaseUrl))) throw noDatabase(filePath(databaseUrl));
  if (unkept.includes('VAULT_SECRET'))
    throw new Error(`there is no ${join(dataDir, SECRET_FILES.VAULT_SECRET)}: set VAULT_SECRET or DATA_DIR`);
}

/** Writes a checked, sealed snapshot of the database into the draft, which is on the disk then. */
export async function makeBackup(order: BackupOrder, draft: string): Promise<Manifest> {
  const { config, secrets, progress, number } = order;
  const createdAt = isoTime(systemClock.now());
  await copyDatabase(config, draft, progress);
  await noticeSignals();
  progress.say('checking …');
  const { schema, rows } = describeCopy(draft);
  await noticeSignals();
  progress.say('writing …');
  const facts = {
    ...(number !== undefined && { number }),
    createdAt,
    vault: VERSION,
    schema,
    rows,
    ...(secrets && { secrets }),
  };
  const manifest = seal(draft, facts, backupKey(config.vaultSecret));
  await noticeSignals();
  return manifest;
}

async function copyDatabase(config: Config, draft: string, progress: Progress): Promise<void> {
  const { databaseUrl: url } = config;
  progress.say('copying …');
  if (isEmbedded(url)) {
    checkRoom(sizeWithLog(filePath(url)), dirname(draft), 'a backup');
    copyEmbedded(filePath(url), draft, config.databaseCheckpoint);
    return;
  }
  const client = await openServer(databaseOf(config), 'bigint');
  try {
    await copyRemote(client, draft, progress);
  } finally {
    client.close();
  }
}

/** The log may hold rows that are not in the file, up to 1 GiB where another program does checkpoints. */
function sizeWithLog(path: string): number {
  return statSync(path).size + (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0);
}

/** A copy of a damaged database is not a backup. */
function describeCopy(draft: string): Pick<Manifest, 'schema' | 'rows'> {
  const connection = new Connection(draft, { readonly: true, strict: true });
  try {
    const rows = countRows(connection);
    checkContents(connection, rows);
    return { schema: Math.max(...recordedIn(connection).keys()), rows };
  } finally {
    connection.close();
  }
}
