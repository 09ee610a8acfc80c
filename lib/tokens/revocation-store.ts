import type { Statement, Value } from '../db/database.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';

/** Records that a token, or a link of its chain, counts no more, and tells of it once: `rowsAffected` of the first is 0 when it was so already. `cid` is as `parseCid` gives it, `expiresAt` the token's own end where it is known. */
export function revokeToken(cid: string, now: number, expiresAt: number | null = null): readonly Statement[] {
  const event = eventOf('token.revoked', { app: DEFAULT_APP, at: now }, { cid });
  return [
    {
      sql: `INSERT INTO token_revocations (cid, revoked_at, expires_at) VALUES (:cid, :now, :expires_at) ON CONFLICT DO NOTHING`,
      args: { cid, now, expires_at: expiresAt },
    },
    emitEvent(event, { ifChanged: true }),
  ];
}

/** Those of the CIDs that were revoked: a row each, none when all of the chain still counts. */
export function findRevoked(cids: readonly string[]): Statement {
  const names = cids.map((_, i) => `:cid_${i}`);
  const args: Record<string, Value> = Object.fromEntries(cids.map((cid, i) => [`cid_${i}`, cid]));
  return { sql: `SELECT cid, revoked_at FROM token_revocations WHERE cid IN (${names.join(', ')})`, args };
}
