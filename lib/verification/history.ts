import { isoTime } from '../base/clock.ts';
import { numberOf, type Row, type Store } from '../db/database.ts';
import { selectHistory } from './history-store.ts';

/** Codes of one identifier that are shown. */
const CODES_SHOWN_MAX = 20;

/** A code as the operator sees it: its delivery and its state. */
export interface ShownCode {
  readonly sentAt: string;
  readonly expiresAt: string;
  readonly delivery: string;
  /** Checks that were spent. */
  readonly attempts: number;
  readonly verifiedAt: string | null;
}

/** When an identifier was last verified, and its codes of the last day, newest first. */
export interface History {
  readonly verifiedAt: string | null;
  readonly codes: readonly ShownCode[];
}

/** Reads the stored codes of an identifier's key, and when it was verified last. */
export async function readHistory(db: Pick<Store, 'read'>, key: string): Promise<History> {
  const rows = await db.read(selectHistory(key, CODES_SHOWN_MAX));
  const codes = rows.filter((row) => row['seq'] !== null);
  return { verifiedAt: timeOf(rows[0], 'verified_at'), codes: codes.map(shownCode) };
}

function shownCode(row: Row): ShownCode {
  return {
    sentAt: isoTime(Number(row['sent_at'])),
    expiresAt: isoTime(Number(row['expires_at'])),
    delivery: String(row['delivery']),
    attempts: Number(row['attempts']),
    verifiedAt: timeOf(row, 'consumed_at'),
  };
}

function timeOf(row: Row | undefined, column: string): string | null {
  const at = row && numberOf(row, column);
  return at === undefined || at === null ? null : isoTime(at);
}
