import { appendFileSync, closeSync, existsSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../lib/config/config.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import type { Progress } from '../cli/progress.ts';
import { makeDataDirectory } from '../setup/secrets.ts';
import { draftOf, noticeSignals, whileDrafting } from '../storage/durable.ts';
import { type BackupName, readName, readNames, vaultMark } from './backup-name.ts';
import { openPlace } from './open-place.ts';
import { type BackupPlace, readBackup } from './place.ts';
import { checkRoom } from './room.ts';

/** The input of a restore, wherever the backup is; there is no key before there is a VAULT_SECRET. */
export interface Restoring {
  readonly config: Config;
  readonly key: Uint8Array | undefined;
  readonly progress: Progress;
}

/** A backup that is a file of this machine now, and its name in a place. */
export interface FoundFile {
  readonly path: string;
  readonly shown: string;
  readonly named?: BackupName;
}

/** Takes a backup from the place of `--from`, as a file of this machine while `work` runs. */
export async function withBackupFrom<T>(
  { options }: Arguments,
  { config, key, progress }: Restoring,
  work: (file: FoundFile) => Promise<T>,
): Promise<T> {
  const { from = '', FILE: name } = options;
  const isTrial = options['dry-run'] !== undefined;
  const place = await openPlace(from, config, config.dataDir);
  const vault = key && options['other-secret'] === undefined ? vaultMark(key) : undefined;
  const backup = name === undefined ? await chooseNewest(place, vault) : await chooseNamed(place, name);
  const shown = `${place.shown}/${backup.name}`;
  if (place.pathOf) return work({ path: place.pathOf(backup.name), shown, named: backup });
  // A dry run works where there is no vault.
  if (!isTrial) makeDataDirectory(config.dataDir);
  const draft = draftOf(join(existsSync(config.dataDir) ? config.dataDir : '.', 'restore.draft'));
  const size = await place.sizeOf(backup.name);
  checkRoom(size, dirname(draft), 'this backup');
  return whileDrafting(draft, async () => {
    closeSync(openSync(draft, 'wx', 0o600));
    for await (const part of readBackup(place, backup.name, size)) {
      appendFileSync(draft, part);
      progress.say(`fetching ${backup.name} …`);
      await noticeSignals();
    }
    return work({ path: draft, shown, named: backup });
  });
}

/** The newest of the vault with this mark; without one, of the only vault that has any. */
async function chooseNewest(place: BackupPlace, vault: string | undefined): Promise<BackupName> {
  const all = readNames(await place.list());
  const vaults = new Set(all.map((backup) => backup.vault));
  if (vault === undefined && vaults.size > 1)
    throw new UsageError(`${place.shown} has backups of ${vaults.size} vaults: set VAULT_SECRET, or name the backup.`);
  const [newest, ...others] = all.filter((backup) => vault === undefined || backup.vault === vault);
  if (newest === undefined) {
    const hint = vaults.size > 0 ? ' made under this VAULT_SECRET (others are taken with their name)' : '';
    throw new Error(`${place.shown} has no backup${hint}`);
  }
  const later = others.find(({ time }) => time > newest.time);
  if (later) console.error(`vault: ${later.name} has a later time, but ${newest.name} was made after it.`);
  return newest;
}

async function chooseNamed(place: BackupPlace, name: string): Promise<BackupName> {
  const backup = readName(name);
  const names = await place.list();
  if (backup && names.includes(name)) return backup;
  const newest = readNames(names)
    .slice(0, 10)
    .map((one) => `\n  ${one.name}`);
  throw new UsageError(`${place.shown} has no backup of that name. Its newest ones:${newest.join('') || ' none'}`);
}
