import { type AdmissionContext, admissionOf } from '../admission/admission.ts';
import { type Aliases, UNALIASED } from '../aliases/aliases.ts';
import { VaultError } from '../base/error.ts';
import { numberOf, type Statement } from '../db/database.ts';
import { aliasHash, didHash } from '../identity/did.ts';
import type { Identifier } from '../identity/identifier.ts';
import type { IsReserved } from '../identity/reserved-handles.ts';
import { ipLimitReached, limitReached } from '../limits/limits.ts';
import { fullSite, sessionShare } from '../limits/session-share.ts';
import type { Platform } from '../platform.ts';
import { SESSION_ASK_MIN_MS } from './ask-chain.ts';
import { emitOpened, emitReplaced, insertSession, selectOwnSession, selectRefusal } from './open-store.ts';
import { selectHolders, selectSessionCounts } from './store.ts';

// For other subjects' batches that open, link or end sessions.
export { linkSessions, recheckSessions, SESSION_IS_ON_CHAIN, unlinkSessions } from './link-store.ts';
export {
  EARLIEST_LAPSE,
  followHolderIfChanged,
  ipWindow,
  openClaimedSession,
  releaseSessions,
  SESSION_COUNTS,
  SESSION_FOLLOWS,
  SESSION_HAS_HOLDER,
  SESSION_IS_LIVE,
} from './store.ts';

/** For the owner, where a stranger opened the session with the owner's DID: it keeps nobody from registering. */
const SAME_DID = 'This DID has a session of it already: go on with POST /api/dids.';

/** The least number up to which an IP's sessions are counted. */
const SESSIONS_COUNTED_MAX = 100;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'metrics'> &
  AdmissionContext & {
    readonly aliases: Aliases;
    readonly isReserved: IsReserved;
  };

/** A request for a session: values in normal form, the client key that limits count under, the app of its events. */
export interface SessionRequest {
  readonly identifier: Identifier;
  readonly did: string;
  readonly ip: string;
  readonly app: string;
  readonly invite?: string | undefined;
  /** Spends the client's limit of requests that ask the chain. Throws 429 `rate_limited`. */
  readonly spend?: () => void;
}

/**
 * Opens a registration session. Checks reserved, admission, duplicate and per-IP limit in this order, all but the first
 * in the statement that writes. The DID that a handle's alias leads to takes over the session of any other DID. `also`
 * follows in the same commit. Throws 409 `identifier_reserved`, 409 `identifier_taken`, 429 `ip_limit_reached`, and the
 * 403s of `demandAdmission`.
 */
export async function openSession(ctx: Ctx, request: SessionRequest, also: readonly Statement[] = []): Promise<void> {
  const { config, clock, db } = ctx;
  const { identifier, did, ip, app } = request;
  const sessions = ctx.metrics.counter('vault_sessions_total');
  if (ctx.isReserved(identifier)) {
    sessions.add({ outcome: 'identifier_reserved' });
    throw new VaultError('identifier_reserved');
  }
  const hashes = { aliasHash: aliasHash(identifier.value), didHash: didHash(did) };
  const isHandle = identifier.channel === 'handle';
  const { ledTo } = isHandle ? await ctx.aliases.findSoon(hashes, { spend: request.spend }) : UNALIASED;
  const now = clock.now();
  const admission = admissionOf(ctx, request);
  const session = {
    identifier: identifier.key,
    app,
    did,
    ...hashes,
    ledTo,
    askAt: isHandle ? now + SESSION_ASK_MIN_MS : null,
    ip,
    now,
    expiresAt: now + config.sessionTtlSeconds * 1000,
    perIp: config.maxRegistrationsPerIp,
    windowSeconds: config.registrationsPerIpWindowSeconds,
    share: sessionShare(config, ip, now),
    admission,
  };
  const shared = session.share.spend();
  const results = await db.write(
    emitReplaced(session),
    insertSession(session),
    ...shared,
    emitOpened(session),
    selectRefusal(session),
    ...also,
  );
  const isOpened = results[1]?.rowsAffected === 1;
  const row = results[3 + shared.length]?.rows[0] ?? {};
  const isTaken = row['taken'] === 1;
  const refusal = row['not_admitted'] === 1 ? admission?.refusal : isTaken ? 'identifier_taken' : undefined;
  sessions.add({ outcome: isOpened ? 'opened' : (refusal ?? 'ip_limit_reached') });
  if (isOpened) return;
  if (refusal === 'identifier_taken' && (await db.read(selectOwnSession(session))).length > 0)
    throw new VaultError(refusal, { reason: 'same_did', hint: SAME_DID });
  if (refusal) throw new VaultError(refusal);
  const full = row['ip_full'] === 1 ? undefined : fullSite(config, row, session.share);
  throw full ? limitReached(ctx, full) : ipLimitReached(ctx, ip, numberOf(row, 'earliest_lapse'), now);
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
  const [row] = await db.read(selectSessionCounts(ip, config.registrationsPerIpWindowSeconds, clock.now(), most));
  return { byIp: Number(row?.['by_ip'] ?? 0), total: Number(row?.['total'] ?? 0) };
}

/**
 * Whether a session could not be opened for the identifier: a handle has a live session or an alias on-chain, any other
 * is linked to a DID. An email or a phone of a bare session is its owner's to register.
 */
export async function isTaken(
  { db, clock, aliases }: Pick<Ctx, 'db' | 'clock' | 'aliases'>,
  { key, channel, value }: Identifier,
  spend?: () => void,
): Promise<boolean> {
  const [row] = await db.read(selectHolders(key, clock.now()));
  if (row?.['linked'] === 1) return true;
  if (channel !== 'handle') return false;
  if (row?.['live'] === 1) return true;
  const question = { aliasHash: aliasHash(value), didHash: null };
  return (await aliases.findSoon(question, { spend })).lead !== 'none';
}
