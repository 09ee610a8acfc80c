import { isoTime } from '../base/clock.ts';
import { type Browsed, type BrowseQuery, browse, exportRows } from '../db/browse.ts';
import type { Row } from '../db/database.ts';
import { auditExport, type ExportFormat } from '../events/exports.ts';
import { type Channel, maskIdentifier, parseNamedIdentifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { SESSIONS_LIST, type SessionStatus, selectSession, sessionsAre } from './list-store.ts';

export { SESSION_STATUSES, type SessionStatus } from './list-store.ts';

/** A part of the list of sessions. */
export interface SessionFilter extends BrowseQuery {
  readonly channel?: Channel | undefined;
  readonly status?: SessionStatus | undefined;
  readonly app?: string | undefined;
}

/** A session as the operator sees it. */
export interface ShownSession {
  readonly identifier: string;
  readonly channel: Channel;
  readonly app: string;
  readonly did: string;
  readonly status: SessionStatus;
  readonly createdAt: string;
  /** Null while it is linked. */
  readonly expiresAt: string | null;
}

/** The columns of an export. */
export const SESSION_COLUMNS: readonly (keyof ShownSession)[] = [
  'createdAt',
  'app',
  'channel',
  'identifier',
  'status',
  'expiresAt',
  'did',
];

type Ctx = Pick<Platform, 'db' | 'clock'>;

/** Sessions, newest first; identifiers are masked. Throws 400 for a wrong cursor. */
export async function browseSessions(
  { db, clock }: Ctx,
  filter: SessionFilter,
): Promise<{ readonly sessions: readonly ShownSession[] } & Browsed> {
  const now = clock.now();
  const { rows, page } = await browse(db, SESSIONS_LIST, filter, sessionsAre(filter, now));
  return { sessions: rows.map((row) => shownSession(row, now, false)), ...page };
}

/** The same step by step, for a file. The audit channel gets an event first. */
export async function exportSessions(
  ctx: Ctx,
  filter: SessionFilter,
  format: ExportFormat,
): Promise<{ readonly steps: AsyncGenerator<readonly ShownSession[]>; readonly next: string | null }> {
  const now = ctx.clock.now();
  const { steps, next } = await exportRows(ctx.db, SESSIONS_LIST, filter, sessionsAre(filter, now));
  await auditExport(ctx, { list: 'sessions', format, filter });
  return { steps: shownSteps(steps, now), next };
}

/** The session of an identifier, which is shown whole. Throws 400 `Invalid identifier`. */
export async function lookUpSession({ db, clock }: Ctx, identifier: string) {
  const rows = await db.read(selectSession(parseNamedIdentifier(identifier).key));
  const now = clock.now();
  return { sessions: rows.map((row) => shownSession(row, now, true)), next: null, searchedTo: null, total: null };
}

/** The session of an identifier's key, its identifier masked; null without one. */
export async function findSession({ db, clock }: Ctx, key: string): Promise<ShownSession | null> {
  const [row] = await db.read(selectSession(key));
  return row ? shownSession(row, clock.now(), false) : null;
}

async function* shownSteps(steps: Awaited<ReturnType<typeof exportRows>>['steps'], now: number) {
  for await (const rows of steps) yield rows.map((row) => shownSession(row, now, false));
}

function shownSession(row: Row, now: number, isWhole: boolean): ShownSession {
  const key = String(row['identifier']);
  const channel = key.slice(0, key.indexOf(':')) as Channel;
  const value = key.slice(channel.length + 1);
  const isLinked = row['linked'] === 1;
  const expiresAt = Number(row['expires_at']);
  return {
    identifier: isWhole ? value : maskIdentifier({ channel, value }),
    channel,
    app: String(row['app']),
    did: String(row['did']),
    status: isLinked ? 'linked' : expiresAt > now ? 'open' : 'lapsed',
    createdAt: isoTime(Number(row['created_at'])),
    expiresAt: isLinked ? null : isoTime(expiresAt),
  };
}
