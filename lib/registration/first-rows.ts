import { DatabaseUnavailable } from '../base/error.ts';
import type { Row, Store } from '../db/database.ts';
import { selectFirstRows, selectFirstRowsOf } from './lookup-store.ts';

/** The most credentials that one statement reads. */
export const LOOK_UPS_MAX = 64;

/** Credentials that one statement will read, and their rows. */
interface Round {
  readonly credentialIds: Set<string>;
  readonly rows: Promise<readonly Row[]>;
}

/** The round of each store that others can still join. */
const open = new WeakMap<Store, Round>();

/**
 * A credential's rows, two at most. A database server compiles each statement, so it reads those of a moment by one
 * (docs/decisions/0028); if it refuses that, each alone.
 */
export async function readFirstRows(db: Store, credentialId: string): Promise<readonly Row[]> {
  if (!db.isServer) return db.read(selectFirstRows(credentialId));
  const { credentialIds, rows } = roomIn(open.get(db)) ?? openRound(db);
  credentialIds.add(credentialId);
  try {
    return (await rows).filter(({ asked }) => asked === credentialId);
  } catch (error) {
    if (error instanceof DatabaseUnavailable || credentialIds.size === 1) throw error;
    return db.read(selectFirstRows(credentialId));
  }
}

function roomIn(round: Round | undefined): Round | undefined {
  return round && round.credentialIds.size < LOOK_UPS_MAX ? round : undefined;
}

function openRound(db: Store): Round {
  const credentialIds = new Set<string>();
  const close = () => {
    if (open.get(db) === round) open.delete(db);
  };
  const rows = db.readLater(() => {
    close();
    return selectFirstRowsOf([...credentialIds]);
  });
  // A read may also fail before its statement was asked for.
  const round = { credentialIds, rows: rows.finally(close) };
  open.set(db, round);
  return round;
}
