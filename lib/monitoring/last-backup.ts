import { DAY_MS } from '../base/clock.ts';
import type { Platform } from '../platform.ts';
import { type MadeBackup, selectLastBackup, toBackup } from './backup-store.ts';

export { noteBackup } from './backup-store.ts';

/** From when on a backup is old: one of each day was missed. The alert `VaultBackupOld` has the same number. */
export const BACKUP_OLD_MS = 1.5 * DAY_MS;

/** The newest backup that is known, and whether another one is due. */
export interface BackupState {
  readonly last: MadeBackup | null;
  /** It is old, or none is known of a vault that has registrations. */
  readonly isDue: boolean;
}

/** Reads the last backup that the database knows of, and whether one is due. */
export async function readBackupState({ db, clock }: Pick<Platform, 'db' | 'clock'>): Promise<BackupState> {
  const [row = {}] = await db.read(selectLastBackup());
  const last = toBackup(row);
  const isDue = last === null ? Number(row['filled']) === 1 : clock.now() - last.madeAt > BACKUP_OLD_MS;
  return { last, isDue };
}

/** One turn of a background task: measures when the newest backup was made. */
export async function measureBackup(ctx: Pick<Platform, 'db' | 'clock' | 'metrics'>): Promise<false> {
  const { last, isDue } = await readBackupState(ctx);
  // Without a value as long as there is nothing to lose.
  if (last || isDue) ctx.metrics.gauge('vault_backup_last_success_timestamp_seconds').set((last?.madeAt ?? 0) / 1000);
  return false;
}
