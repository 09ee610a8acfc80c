import type { Condition, Statement } from '../db/database.ts';
import type { NewestFirst } from '../db/newest-first.ts';
import type { Channel } from '../identity/identifier.ts';

/** `linked` to a DID; `open` until it is or lapses; `lapsed` rows are removed by the next sweeps. */
export const SESSION_STATUSES = ['open', 'linked', 'lapsed'] as const;

/** One of `SESSION_STATUSES`. */
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** Sessions, newest first. Those of one millisecond go by their DID: a place in the list must not name a person. */
export const SESSIONS_LIST: NewestFirst = {
  table: 'sessions',
  index: 'sessions_by_time',
  at: 'created_at',
  tie: 'did_hash',
  lowest: '',
};

const HAS_STATUS: Readonly<Record<SessionStatus, string>> = {
  open: 'linked = 0 AND expires_at > :now',
  linked: 'linked = 1',
  lapsed: 'linked = 0 AND expires_at <= :now',
};

/** The condition of a filter; none where it takes every row. */
export function sessionsAre(
  {
    channel,
    status,
    app,
  }: { channel?: Channel | undefined; status?: SessionStatus | undefined; app?: string | undefined },
  now: number,
): Condition | undefined {
  const parts: Condition[] = [];
  if (channel) parts.push({ sql: 'identifier GLOB :kind', args: { kind: `${channel}:*` } });
  if (status) parts.push({ sql: HAS_STATUS[status], args: status === 'linked' ? {} : { now } });
  if (app) parts.push({ sql: 'app = :app', args: { app } });
  if (parts.length === 0) return undefined;
  return { sql: parts.map(({ sql }) => sql).join(' AND '), args: Object.assign({}, ...parts.map(({ args }) => args)) };
}

/** The session of an identifier, one row or none. */
export function selectSession(identifier: string): Statement {
  return { sql: `SELECT * FROM sessions WHERE identifier = :identifier`, args: { identifier } };
}
