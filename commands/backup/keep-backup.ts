import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DAY_MS, systemClock } from '../../lib/base/clock.ts';
import { backupKey } from '../../lib/identity/keys.ts';
import { makeDataDirectory } from '../setup/secrets.ts';
import { discard, draftOf, whileDrafting } from '../storage/durable.ts';
import type { Manifest } from './backup-file.ts';
import { type BackupName, chooseRemoved, isDraft, type Retention, vaultMark, writeName } from './backup-name.ts';
import { type BackupOrder, makeBackup } from './make-backup.ts';
import { type BackupPlace, readBackup } from './place.ts';
import { type BackupProofs, type FoundBackups, findBackups } from './proof.ts';
import { whileAlone } from './turn-lock.ts';

/** How long a draft in a folder that hosts share is left alone after the last write to it. */
const SHARED_DRAFT_MS = DAY_MS;

/** A backup that was put into a place, and the removal of older ones. */
export interface Kept {
  readonly number: number;
  readonly name: string;
  readonly manifest: Manifest;
  readonly removed: readonly string[];
  /** Backups that were to be removed and could not be. */
  readonly unremoved: readonly string[];
  /** Files that are not the backups that their names claim: neither counted nor removed. */
  readonly unproven: readonly string[];
}

/** The content of a backup, and this process's knowledge of the place: the last number it put there, and the proofs. */
export interface KeepOrder extends BackupOrder {
  readonly last?: number;
  readonly proofs?: BackupProofs;
}

/**
 * Makes a backup, puts it into the place, reads it back in full and compares it, and only then removes what the
 * retention does not keep. Throws an `Error` that explains the problem; nothing was removed then.
 */
export async function keepBackup(order: KeepOrder, place: BackupPlace, retention: Retention): Promise<Kept> {
  const key = backupKey(order.config.vaultSecret);
  const vault = vaultMark(key);
  makeDataDirectory(order.config.dataDir);
  return whileAlone(order.config.dataDir, 'backup', async () => {
    clearDrafts(place.draftFolder, vault, resolve(place.draftFolder) === resolve(order.config.dataDir));
    const before = await findBackups(place, vault, key, order.proofs ?? new Map());
    const number = nextNumber(before, order.last ?? 0, place);
    const draft = draftOf(join(place.draftFolder, `vault-${vault}-${number}.draft`));
    const { made, manifest } = await whileDrafting(draft, async () => {
      const manifest = await makeBackup({ ...order, number }, draft);
      const time = Date.parse(manifest.createdAt);
      const facts = { vault, number, time, registrations: manifest.rows['registrations'] ?? 0 };
      const name = writeName(facts);
      order.progress.say('putting it in its place …');
      const sent = { size: statSync(draft).size, digest: await digestOf(createReadStream(draft)) };
      await place.put(draft, name);
      order.progress.say('reading it back …');
      await compare(place, name, sent);
      return { made: { name, ...facts }, manifest };
    });
    // Chosen among the backups proven before: a failure now does not undo the new one.
    const moved = await removeOld(place, chooseRemoved([made, ...before.proven], retention));
    const unproven = before.unproven.map(({ name }) => name);
    return { number, name: made.name, manifest, ...moved, unproven };
  });
}

/** The next number after what is proven that no name has. Throws where the last backup of this process is gone. */
function nextNumber({ proven, unproven }: FoundBackups, last: number, place: BackupPlace): number {
  const taken = new Set([...proven, ...unproven].map((backup) => backup.number));
  // The mount point of a disk that is away looks like a new folder, and another disk may be mounted there.
  if (Math.max(proven[0]?.number ?? 0, unproven[0]?.number ?? 0) < last)
    throw new Error(`${place.shown} no longer has the newest backup of this vault`);
  let number = Math.max(proven[0]?.number ?? 0, last) + 1;
  while (taken.has(number)) number++;
  return number;
}

/** Removes drafts of a killed process. In a folder that hosts share, a young one may be another host's, under way. */
function clearDrafts(folder: string, vault: string, isOurs: boolean): void {
  const before = isOurs ? Number.POSITIVE_INFINITY : systemClock.now() - SHARED_DRAFT_MS;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (isDraft(name, vault) && (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? before) < before) discard(path);
  }
}

/**
 * Compares the stored backup with the one that was checked. On a difference it is removed again, as far as possible.
 */
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
  chosen: readonly BackupName[],
): Promise<Pick<Kept, 'removed' | 'unremoved'>> {
  const removed: string[] = [];
  const unremoved: string[] = [];
  for (const { name } of chosen) {
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
