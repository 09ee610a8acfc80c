import { Database as Connection } from 'bun:sqlite';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../lib/config/config.ts';
import { DATABASE_LOCK_TIMEOUT_MS, isBusy } from '../../lib/db/errors.ts';
import { type DoctorCheck, type Finding, fail, ok, skip, warn } from '../../lib/doctor/finding.ts';
import type { Examined } from '../../lib/doctor/host.ts';
import { checkSchema } from '../../lib/doctor/schema.ts';
import { createKeys } from '../../lib/identity/keys.ts';
import { OTHER_SECRET, secretMark } from '../../lib/key-rotation/key-rotation.ts';
import { isEmbedded } from '../setup/settings.ts';
import { keepLogLeftOpen } from '../storage/connection.ts';
import { filePath } from '../storage/database.ts';
import { isCode } from '../storage/durable.ts';
import { LOG_BYTES_MAX } from '../storage/log-watch.ts';
import { checkTables, type Extent, recordedIn } from '../storage/tables.ts';
import { diskChecks, megabytes } from './disk.ts';
import { whyNotMade } from './files.ts';
import { serverCheck } from './server.ts';

/** Checks of the database and its disk or server. */
export function storageChecks(
  config: Config,
  extent: Extent = {},
  stored?: Examined['stored'],
): readonly DoctorCheck[] {
  const secret: DoctorCheck = { name: 'files', remedy: '', run: () => checkSecret(config, stored) };
  if (!isEmbedded(config.databaseUrl)) return [serverCheck(config), secret];
  const path = resolve(filePath(config.databaseUrl));
  return [
    {
      name: 'database',
      remedy: 'restore a backup (vault restore) and check the disk',
      run: () => hasFolder(path, config) ?? mayWrite(path) ?? checkFile(path, extent, config.databaseCheckpoint),
    },
    secret,
    ...diskChecks(config, stored),
  ];
}

/** Whether the database was used with another secret, as after a restore beside a new one. */
async function checkSecret(
  { vaultSecret, attestationSigningKey }: Config,
  stored: Examined['stored'],
): Promise<readonly Finding[]> {
  const known = await stored?.().catch(() => undefined);
  const mark = secretMark(createKeys(vaultSecret, attestationSigningKey));
  if (known?.secretMark === undefined || known.secretMark === mark) return [];
  return [warn('files', OTHER_SECRET, 'if that was not meant, put the former vault.secret back before the next start')];
}

/** The vault makes DATA_DIR, and no other folder. */
function hasFolder(path: string, { dataDir }: Config): readonly Finding[] | undefined {
  const folder = dirname(path);
  if (existsSync(folder)) return undefined;
  if (folder !== resolve(dataDir))
    return [fail('database', `there is no folder ${folder} for it`, "make the folder, as the vault's user")];
  return whyNotMade(folder) === undefined ? undefined : [skip('database', 'there is no DATA_DIR for it')];
}

/** SQLite needs the directory too, for its log. */
function mayWrite(path: string): readonly Finding[] | undefined {
  try {
    accessSync(dirname(path), constants.R_OK | constants.W_OK | constants.X_OK);
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    return [
      fail(
        'database',
        `this user cannot read and write ${path} and its directory`,
        "run the command as the vault's user, or chown both to this user",
      ),
    ];
  }
}

function checkFile(path: string, extent: Extent, checkpoint: Config['databaseCheckpoint']): readonly Finding[] {
  if (!existsSync(path)) return [warn('database', `there is no database at ${path} yet`, 'the first start creates it')];
  const connection = new Connection(path, { readwrite: true, create: false, strict: true });
  keepLogLeftOpen(connection, path);
  try {
    connection.run(`PRAGMA busy_timeout = ${DATABASE_LOCK_TIMEOUT_MS}`);
    const mode = connection.query('PRAGMA journal_mode').values()[0]?.[0];
    const { damage, left } = checkTables(connection, extent);
    const size = `${megabytes(statSync(path).size)} MB`;
    const unread = left.length > 0 ? `, but ${left.join(', ')} not read (vault doctor --full)` : '';
    return [
      damage === undefined
        ? ok('database', `${path}, ${size}, intact${unread}, journal ${mode}`)
        : fail('database', `${path} is damaged: ${damage}`, 'restore a backup: vault restore FILE --overwrite'),
      checkWritable(connection),
      checkSchema(recordedIn(connection)),
      ...checkLog(`${path}-wal`, checkpoint),
    ];
  } finally {
    connection.close();
  }
}

function checkWritable(connection: Connection): Finding {
  try {
    connection.run('BEGIN IMMEDIATE');
    connection.run('ROLLBACK');
    return ok('database', 'accepts writes');
  } catch (error) {
    if (!isBusy(error)) throw error;
    const text = `another process has held the write lock for ${DATABASE_LOCK_TIMEOUT_MS / 1000} s`;
    return fail('database', text, 'find the process with fuser or lsof on the file');
  }
}

function checkLog(path: string, checkpoint: Config['databaseCheckpoint']): readonly Finding[] {
  const size = existsSync(path) ? statSync(path).size : 0;
  if (size <= LOG_BYTES_MAX) return [];
  const remedy =
    checkpoint === 'external'
      ? 'start Litestream, which is to bring it into the file, or set DATABASE_CHECKPOINT=auto'
      : 'a read takes very long, or a process died: stop what has the file open, and start the vault';
  return [warn('database', `its write-ahead log has grown to ${megabytes(size)} MB`, remedy)];
}
