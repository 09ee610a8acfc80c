import { BACKUP_TAIL_BYTES_MAX, type Manifest, readTail } from './backup-file.ts';
import { type BackupName, readNames } from './backup-name.ts';
import type { BackupPlace } from './place.ts';

/** How many names of a vault a place may have: each is read once by a process. */
const CANDIDATES_MAX = 100_000;

/** The findings of this process on the backups in a place, by name and size. */
export type BackupProofs = Map<string, { readonly size: number; readonly isProven: boolean }>;

/** The backups of a vault in a place, newest first. Somebody else made the names of `unproven`, or they are rotten. */
export interface FoundBackups {
  readonly proven: readonly BackupName[];
  readonly unproven: readonly BackupName[];
}

/**
 * Separates the backups that this vault made from files that others named so: the end of each is read, and must have
 * been made with the key and for this name. A backup that cannot be read is not proven now.
 */
export async function findBackups(
  place: BackupPlace,
  vault: string,
  key: Uint8Array,
  proofs: BackupProofs,
): Promise<FoundBackups> {
  const all = readNames(await place.list()).filter((backup) => backup.vault === vault);
  if (all.length > CANDIDATES_MAX)
    throw new Error(`${place.shown} has more than ${CANDIDATES_MAX} names of this vault: are they all backups?`);
  const names = new Set(all.map(({ name }) => name));
  for (const name of proofs.keys()) if (!names.has(name)) proofs.delete(name);
  const [proven, unproven]: [BackupName[], BackupName[]] = [[], []];
  for (const backup of all) {
    const isProven = await prove(place, backup, key, proofs).catch(() => false);
    (isProven ? proven : unproven).push(backup);
  }
  return { proven, unproven };
}

/** Whether a backup was made under this name in its place. */
export function isOfName({ createdAt, number, rows }: Manifest, name: BackupName): boolean {
  const isCount = (rows['registrations'] ?? 0) === name.registrations;
  return number === name.number && Date.parse(createdAt) === name.time && isCount;
}

async function prove(place: BackupPlace, backup: BackupName, key: Uint8Array, proofs: BackupProofs): Promise<boolean> {
  const size = await place.sizeOf(backup.name);
  const known = proofs.get(backup.name);
  if (known?.size === size) return known.isProven;
  const tail = await place.read(backup.name, Math.max(0, size - BACKUP_TAIL_BYTES_MAX), size);
  const isProven = isProof(tail, size, backup, key);
  proofs.set(backup.name, { size, isProven });
  return isProven;
}

function isProof(tail: Uint8Array, size: number, backup: BackupName, key: Uint8Array): boolean {
  try {
    const { manifest, isMac } = readTail(tail, size, key);
    return isMac === true && isOfName(manifest, backup);
  } catch {
    return false;
  }
}
