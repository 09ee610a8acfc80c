import type { Statement, Value } from '../db/database.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';

/**
 * Inserts a revocation and emits `token.revoked`; `rowsAffected` of the first is 0 if it was revoked before. `cid` in
 * the form of `parseCid`; `expiresAt` in milliseconds, where known.
 */
export function insertRevocation(cid: string, now: number, expiresAt: number | null = null): readonly Statement[] {
  const event = eventOf('token.revoked', { app: DEFAULT_APP, at: now }, { cid });
  return [
    {
      sql: `INSERT INTO token_revocations (cid, revoked_at, expires_at) VALUES (:cid, :now, :expires_at) ON CONFLICT DO NOTHING`,
      args: { cid, now, expires_at: expiresAt },
    },
    emitEvent(event, { ifChanged: true }),
  ];
}

/** A row for each of the CIDs that was revoked. */
export function selectRevoked(cids: readonly string[]): Statement {
  const names = cids.map((_, i) => `:cid_${i}`);
  const args: Record<string, Value> = Object.fromEntries(cids.map((cid, i) => [`cid_${i}`, cid]));
  return { sql: `SELECT cid, revoked_at FROM token_revocations WHERE cid IN (${names.join(', ')})`, args };
}
