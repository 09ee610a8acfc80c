import type { Row, Statement } from '../db/database.ts';

/** A backup that was made: when, in milliseconds, of how many bytes, and where it is, as people are shown it. */
export interface MadeBackup {
  readonly madeAt: number;
  readonly bytes: number;
  readonly place: string;
}

/** Notes the newest backup. */
export function noteBackup({ madeAt, bytes, place }: MadeBackup): Statement {
  return {
    sql: `INSERT INTO last_backup (id, made_at, bytes, place) VALUES (1, :made_at, :bytes, :place)
      ON CONFLICT (id) DO UPDATE SET made_at = excluded.made_at, bytes = excluded.bytes, place = excluded.place`,
    args: { made_at: madeAt, bytes, place },
  };
}

/** The newest backup, null where none is known, and whether there is anything to lose: one row. */
export function selectLastBackup(): Statement {
  return {
    sql: `SELECT made_at, bytes, place, EXISTS (SELECT 1 FROM registrations WHERE id > 0) AS filled
      FROM (SELECT 1) LEFT JOIN last_backup ON id = 1`,
    args: {},
  };
}

/** The backup of a row of `selectLastBackup`. */
export function toBackup(row: Row): MadeBackup | null {
  if (row['made_at'] === null) return null;
  return { madeAt: Number(row['made_at']), bytes: Number(row['bytes']), place: String(row['place']) };
}
