import type { Statement } from '../db/database.ts';
import { endChallenge, loseAddress, WAITS } from './challenge-store.ts';

/**
 * Keeps the DID of a claim that was just undone from an address that another has claimed too. Where the other was there
 * first, no further claim of the DID has the address either: it may have come by several passkeys.
 */
export function barUndone(id: number, now: number): readonly Statement[] {
  const undone = `FROM registrations AS undone WHERE undone.id = :id`;
  const ofUndone = `identifier = (SELECT identifier ${undone}) AND did = (SELECT did ${undone})`;
  const isBarred = `EXISTS (SELECT 1 FROM challenges WHERE ${ofUndone} AND ended_by = 'undone' AND ended_at = :now)`;
  const isLive = `status <> 'failed' AND lost IS NULL`;
  const first = (did: string) => `(SELECT min(one.id) FROM registrations AS one, registrations AS undone
    WHERE undone.id = :id AND one.identifier = undone.identifier AND one.status <> 'failed' AND one.lost IS NULL
      AND one.did ${did} undone.did)`;
  const cameLater = `${first('<>')} < min(:id, coalesce(${first('=')}, :id))`;
  return [
    {
      sql: `INSERT INTO challenges (identifier, did, opened_at, ended_at, ended_by)
        SELECT identifier, did, :now, :now, 'undone' ${undone} AND changes() = 1 AND channel <> 'handle'
          AND ${first('<>')} IS NOT NULL`,
      args: { id, now },
    },
    ...endChallenge({ sql: `${ofUndone} AND ended_at IS NULL AND ${isBarred}`, args: { id } }, 'undone', now),
    ...loseAddress(
      `${ofUndone} AND ${isLive} AND (waits = ${WAITS} OR ${cameLater}) AND ${isBarred}`,
      'identifier_taken',
      {
        id,
        now,
      },
    ),
  ];
}
