import { VaultError } from '../base/error.ts';
import type { Statement } from '../db/database.ts';
import { aliasHash, didHash } from '../identity/did.ts';
import type { Identifier } from '../identity/identifier.ts';
import { isReserved } from '../identity/reserved-handles.ts';
import { ipLimitReached } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import { emitOpened, emitReplaced, insertSession, selectLinked, selectRefusal, selectSessionCounts } from './store.ts';

// For other subjects' batches that open, link or end sessions.
export {
  EARLIEST_LAPSE,
  lapseSessions,
  linkSessions,
  openClaimedSession,
  SESSION_COUNTS,
  SESSION_IS_LIVE,
  SESSION_IS_ON_CHAIN,
  unlinkSessions,
} from './store.ts';

/** The least number up to which an IP's sessions are counted. */
const SESSIONS_COUNTED_MAX = 100;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'metrics'>;

/** A request for a session: values in normal form, the client key that limits count under, the app of its events. */
export interface SessionRequest {
  readonly identifier: Identifier;
  readonly did: string;
  readonly ip: string;
  readonly app: string;
}

/**
 * Opens a registration session. Checks reserved, duplicate and per-IP limit in this order, the last two in the
 * statement that writes. `also` follows in the same commit. Throws 409 `identifier_reserved`, 409 `identifier_taken`,
 * 429 `ip_limit_reached`.
 */
export async function openSession(
  ctx: Ctx,
  { identifier, did, ip, app }: SessionRequest,
  also: readonly Statement[] = [],
): Promise<void> {
  const { config, clock, db } = ctx;
  const sessions = ctx.metrics.counter('vault_sessions_total');
  if (isReserved(identifier, config)) {
    sessions.add({ outcome: 'identifier_reserved' });
    throw new VaultError('identifier_reserved');
  }
  const now = clock.now();
  const session = {
    identifier: identifier.key,
    app,
    did,
    aliasHash: aliasHash(identifier.value),
    didHash: didHash(did),
    ip,
    now,
    expiresAt: now + config.sessionTtlSeconds * 1000,
    perIp: config.maxRegistrationsPerIp,
  };
  const results = await db.write(
    emitReplaced(session),
    insertSession(session),
    emitOpened(session),
    ...also,
    selectRefusal(session),
  );
  const isOpened = results[1]?.rowsAffected === 1;
  const row = results.at(-1)?.rows[0];
  const isTaken = row?.['taken'] === 1;
  sessions.add({ outcome: isOpened ? 'opened' : isTaken ? 'identifier_taken' : 'ip_limit_reached' });
  if (isOpened) return;
  if (isTaken) throw new VaultError('identifier_taken');
  throw ipLimitReached(ctx, ip, (row?.['earliest_lapse'] ?? null) as number | null, now);
}

/**
 * The live sessions of the client, counted up to its limit or `SESSIONS_COUNTED_MAX` if that is more, and of all
 * clients.
 */
export async function countSessions(
  { db, clock, config }: Pick<Platform, 'db' | 'clock' | 'config'>,
  ip: string,
): Promise<{ byIp: number; total: number }> {
  const most = Math.max(config.maxRegistrationsPerIp, SESSIONS_COUNTED_MAX);
  const [row] = await db.read(selectSessionCounts(ip, clock.now(), most));
  return { byIp: Number(row?.['by_ip'] ?? 0), total: Number(row?.['total'] ?? 0) };
}

/** Whether the identifier is linked to a DID, by a session or a registration. */
export async function isLinked({ db }: Pick<Platform, 'db'>, identifier: Identifier): Promise<boolean> {
  const [row] = await db.read(selectLinked(identifier.key));
  return row?.['linked'] === 1;
}
