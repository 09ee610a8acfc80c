import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { backupKey } from '../../lib/identity/keys.ts';
import { makeDataDirectory } from '../setup/secrets.ts';
import { discard, draftOf, whileDrafting } from '../storage/durable.ts';
import type { Manifest } from './backup-file.ts';
import { chooseRemoved, isDraft, type Retention, readNames, vaultMark, writeName } from './backup-name.ts';
import { type BackupOrder, makeBackup } from './make-backup.ts';
import { type BackupPlace, readBackup } from './place.ts';
import { whileAlone } from './turn-lock.ts';

/** A backup that was put into a place, and what became of older ones. */
export interface Kept {
  readonly number: number;
  readonly name: string;
  readonly manifest: Manifest;
  readonly removed: readonly string[];
  /** Those that were to be removed and could not be. */
  readonly unremoved: readonly string[];
}

/** What is backed up, and the number of the last backup that this process put into the place. */
export interface KeepOrder extends BackupOrder {
  readonly last?: number;
}

/**
 * Makes a backup, puts it into the place, reads it back in full and compares it, and only then removes what the
 * retention does not keep. Throws an `Error` that explains the problem; nothing was removed then.
 */
export async function keepBackup(order: KeepOrder, place: BackupPlace, retention: Retention): Promise<Kept> {
  const vault = vaultMark(backupKey(order.config.vaultSecret));
  makeDataDirectory(order.config.dataDir);
  return whileAlone(order.config.dataDir, async () => {
    clearDrafts(place.draftFolder, vault);
    const before = await listBackups(place, vault);
    // The mount point of a disk that is away looks like a new folder.
    if (order.last && before.length === 0) throw new Error(`${place.shown} no longer has any backup of this vault`);
    const number = (before[0]?.number ?? 0) + 1;
    const draft = draftOf(join(place.draftFolder, `vault-${vault}-${number}.draft`));
    const { name, manifest } = await whileDrafting(draft, async () => {
      const manifest = await makeBackup(order, draft);
      const time = Date.parse(manifest.createdAt);
      const name = writeName({ vault, number, time, registrations: manifest.rows['registrations'] ?? 0 });
      order.progress.say('putting it in its place …');
      const sent = { size: statSync(draft).size, digest: await digestOf(createReadStream(draft)) };
      await place.put(draft, name);
      order.progress.say('reading it back …');
      await compare(place, name, sent);
      return { name, manifest };
    });
    return { number, name, manifest, ...(await removeOld(place, vault, retention)) };
  });
}

/** The backups of a vault in a place, newest first. */
export async function listBackups(place: BackupPlace, vault: string): Promise<ReturnType<typeof readNames>> {
  return readNames(await place.list()).filter((backup) => backup.vault === vault);
}

/** What a process left that was killed. Nobody else makes drafts of this vault now. */
function clearDrafts(folder: string, vault: string): void {
  for (const name of readdirSync(folder)) if (isDraft(name, vault)) discard(join(folder, name));
}

/** What the place has must be what was checked before; else it is removed again, as well as that can be done. */
async function compare(place: BackupPlace, name: string, sent: { size: number; digest: string }): Promise<void> {
  try {
    const size = await place.sizeOf(name);
    if (size === sent.size && (await digestOf(readBackup(place, name, size))) === sent.digest) return;
    throw new Error(`${name} was read back with other contents from ${place.shown}`);
  } catch (error) {
    await place.remove(name).catch(() => undefined);
    throw error;
  }
}

async function removeOld(
  place: BackupPlace,
  vault: string,
  retention: Retention,
): Promise<Pick<Kept, 'removed' | 'unremoved'>> {
  const removed: string[] = [];
  const unremoved: string[] = [];
  for (const { name } of chooseRemoved(await listBackups(place, vault), retention)) {
    const isGone = await place.remove(name).then(
      () => true,
      () => false,
    );
    (isGone ? removed : unremoved).push(name);
  }
  return { removed, unremoved };
}

async function digestOf(parts: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256');
  for await (const part of parts) hash.update(part);
  return hash.digest('hex');
}
