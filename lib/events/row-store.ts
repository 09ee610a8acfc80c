import type { Statement, Value } from '../db/database.ts';
import { channelOf, type EventRows, insertEvents, maskedIdentifier } from './store.ts';

// What events tell of sessions and registrations, read from their rows in the batch that changes them.

type Args = Readonly<Record<string, Value>>;

/** An event for each session row of `from` (FROM sessions …). */
export function sessionRows(type: SessionEvent, from: string, app = 'app'): EventRows {
  return { type, app, data: SESSION, from };
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

/** Tells of sessions that are about to change. */
export function tellSessions(type: SessionEvent, from: string, args: Args): Statement {
  return insertEvents([sessionRows(type, from)], args);
}

/** Tells of registrations that are about to fail; `reason` is SQL. */
export function tellFailed(from: string, reason: string, args: Args): Statement {
  return insertEvents([registrationRows('registration.failed', from, { reason })], args);
}

type SessionEvent = 'session.created' | 'session.linked' | 'session.unlinked' | 'session.lapsed';
type RegistrationEvent = `registration.${'submitted' | 'confirmed' | 'failed' | 'proven'}`;

const SESSION = { identifier: maskedIdentifier('identifier'), channel: channelOf('identifier'), did: 'did' };

const REGISTRATION = { ...SESSION, credential: `substr(credential_id, 1, 6) || '***'` };
