import { DAY_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { type Condition, textOf as columnText, type Row, type Statement, type Value } from '../db/database.ts';
import { ALL_APPS, EVENTS, type EventType, type NewEvent, type StoredEvent } from './catalogue.ts';

// Ids are assigned inside the write transaction, and SQLite and libSQL have one writer at a time: the order of ids is
// the order of commits. So a reader of `id > last` never misses a row that is committed later with a smaller id.

/** `ifChanged`: only if the previous statement of the batch changed a row. `when`: only if the condition holds. */
interface EmitOptions {
  readonly ifChanged?: boolean;
  readonly when?: Condition;
}

/** Inserts an event, in the batch of its change. Afterwards `changes()` is 1 or 0 for the next statement. */
export function emitEvent({ type, app, at, data }: NewEvent, { ifChanged = false, when }: EmitOptions = {}): Statement {
  const text = ifChanged ? INSERT_IF_CHANGED : INSERT;
  return {
    sql: when ? `${text} ${ifChanged ? 'AND' : 'WHERE'} ${when.sql}` : text,
    args: {
      event_app: app,
      event_channel: EVENTS[type].channel,
      event_type: type,
      event_at: at,
      event_data: JSON.stringify(data),
      event_operator: null,
      ...when?.args,
    },
    emits: true,
  };
}

const INSERT = `INSERT INTO events (app, channel, type, at, data, operator)
  SELECT :event_app, :event_channel, :event_type, :event_at, :event_data, :event_operator`;
const INSERT_IF_CHANGED = `${INSERT} WHERE changes() > 0`;

/** An event of one of several changes, and the values by which the condition recognizes the change. */
export interface EventOf {
  readonly event: NewEvent;
  readonly of: readonly string[];
}

/** Inserts those of the events whose change was made: `when` is SQL over `of`, a JSON list. */
export function emitEventsOf(list: readonly EventOf[], when: string): Statement {
  const rows = list.map(({ event: { type, app, at, data }, of }) => [app, EVENTS[type].channel, type, at, data, of]);
  return {
    sql: `${INSERT_EACH} WHERE ${when}`,
    args: { events: JSON.stringify(rows), event_operator: null },
    emits: true,
  };
}

const INSERT_EACH = `INSERT INTO events (app, channel, type, at, data, operator)
  SELECT app, channel, type, at, data, :event_operator FROM (SELECT value ->> 0 AS app, value ->> 1 AS channel, value ->> 2 AS type,
    value ->> 3 AS at, value -> 4 AS data, value -> 5 AS of FROM json_each(:events))`;

/** A part of `emitEvents`: an event for each row of `from` (FROM … WHERE …); `app` and `data` are SQL over that row. */
export interface EventRows {
  readonly type: EventType;
  readonly app: string;
  /** SQL by member of the event's data. */
  readonly data: Readonly<Record<string, string>>;
  readonly from: string;
}

/**
 * Inserts an event for each row of the parts, in the batch of the change to these rows. `args` are those of the SQL,
 * with `now`.
 */
export function emitEvents(parts: readonly EventRows[], args: Readonly<Record<string, Value>>): Statement {
  const sql = known.get(parts) ?? textOf(parts);
  known.set(parts, sql);
  return { sql, args: { ...args, event_operator: null }, emits: true };
}

// The text is long: it is built once for each constant list of parts.
const known = new WeakMap<readonly EventRows[], string>();

function textOf(parts: readonly EventRows[]): string {
  const selects = parts.map(({ type, app, data, from }) => {
    const members = Object.entries(data).map(([name, sql]) => `'${name}', ${sql}`);
    return `SELECT ${app}, '${EVENTS[type].channel}', '${type}', :now, json_object(${members.join(', ')}), :event_operator ${from}`;
  });
  return `INSERT INTO events (app, channel, type, at, data, operator) ${selects.join(' UNION ALL ')}`;
}

/** SQL for the masked identifier of a key column, in the form of `maskIdentifier`. */
export function maskedIdentifier(key: string): string {
  const value = `substr(${key}, instr(${key}, ':') + 1)`;
  return `CASE substr(${key}, 1, instr(${key}, ':') - 1)
    WHEN 'email' THEN substr(${value}, 1, 1) || '***' || substr(${value}, instr(${value}, '@'))
    WHEN 'sms' THEN substr(${value}, 1, 3) || '***' || substr(${value}, -2)
    ELSE substr(${value}, 1, 1) || '***' END`;
}

/** SQL for the channel of an identifier's key column. */
export function channelOf(key: string): string {
  return `substr(${key}, 1, instr(${key}, ':') - 1)`;
}

/**
 * The ids of the newest and the oldest stored event: both 0 if there never was one; `oldest` is `newest + 1` if all are
 * deleted.
 */
export function selectEventSpan(): Statement {
  return {
    sql: `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS newest,
      coalesce((SELECT min(id) FROM events), (SELECT seq + 1 FROM sqlite_sequence WHERE name = 'events'), 0) AS oldest`,
    args: {},
  };
}

/** The events of one app (or of `ALL_APPS`) and some channels with ids above `after`, up to `until` where given. */
export interface EventsQuery {
  readonly app: string;
  readonly channels: readonly string[];
  readonly after: number;
  readonly until?: number;
}

/** The next events of all apps, oldest first. */
export function selectEventsAfter(id: number, limit: number): Statement {
  return { sql: `SELECT * FROM events WHERE id > :after ORDER BY id LIMIT :limit`, args: { after: id, limit } };
}

/** The next events that a query asks for, oldest first; the last of them has at most the id `until`. */
export function selectEventsOf(
  { app, channels, after, until = Number.MAX_SAFE_INTEGER }: EventsQuery,
  limit: number,
): Statement {
  const isOfAll = app === ALL_APPS;
  return {
    sql: `SELECT * FROM events WHERE ${isOfAll ? '' : 'app = :app AND '}id > :after AND id <= :until
      AND channel IN (SELECT value FROM json_each(:channels)) ORDER BY id LIMIT :limit`,
    args: { ...(isOfAll ? {} : { app }), after, until, limit, channels: JSON.stringify(channels) },
  };
}

/** Reads a row of `events`. */
export function toEvent(row: Row): StoredEvent {
  return {
    id: Number(row['id']),
    app: String(row['app']),
    channel: String(row['channel']),
    type: String(row['type']),
    at: Number(row['at']),
    data: String(row['data']),
    operator: columnText(row, 'operator'),
  };
}

/** Deletes events older than so many days. */
export function sweepEvents(now: number, keepDays: number): Statement {
  return {
    sql: `DELETE FROM events WHERE at <= :before AND id IN (SELECT id FROM events ORDER BY id LIMIT ${SWEEP_ROWS_MAX})`,
    args: { before: now - keepDays * DAY_MS },
  };
}

// Events of sessions and registrations, from their rows, in the batch that changes them.

type Args = Readonly<Record<string, Value>>;

/** An event for each session row of `from` (FROM sessions …). */
export function sessionRows(type: SessionEvent, from: string, app = 'app'): EventRows {
  return { type, app, data: SESSION, from };
}

/** `session.taken_over` for each session row of `from`; the new app, DID and `:identifier` are arguments. */
export function takenOverRows(from: string): EventRows {
  const data = { ...SESSION, did: ':did', previous_did: 'did' };
  return { type: 'session.taken_over', app: ':app', data, from };
}

/** An event for each registration row of `from` (FROM registrations …); `txHash` and `reason` are SQL. */
export function registrationRows(
  type: RegistrationEvent,
  from: string,
  { txHash = 'tx_hash', reason }: { readonly txHash?: string; readonly reason?: string } = {},
): EventRows {
  const data = { ...REGISTRATION, tx_hash: `nullif(${txHash}, '')`, ...(reason === undefined ? {} : { reason }) };
  return { type, app: 'app', data, from };
}

/** Inserts an event for each session row that is about to change. */
export function emitSessions(type: SessionEvent, from: string, args: Args): Statement {
  return emitEvents([sessionRows(type, from)], args);
}

/** Emits `registration.failed` for each row that is about to fail; `reason` is SQL. */
export function emitRegistrationsFailed(from: string, reason: string, args: Args): Statement {
  return emitEvents([registrationRows('registration.failed', from, { reason })], args);
}

type SessionEvent = 'session.created' | 'session.linked' | 'session.unlinked' | 'session.lapsed';
type RegistrationEvent = `registration.${'submitted' | 'confirmed' | 'failed' | 'proven' | 'displaced' | 'restored'}`;

const SESSION = { identifier: maskedIdentifier('identifier'), channel: channelOf('identifier'), did: 'did' };

const REGISTRATION = { ...SESSION, credential: `substr(credential_id, 1, 6) || '***'` };
