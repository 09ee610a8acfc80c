import { IS_ADMITTED } from '../db/row-lock.ts';
import { type EventRows, maskedIdentifier, registrationRows, sessionRows } from '../events/emit.ts';
import { SESSION_IS_LIVE } from '../sessions/sessions.ts';

// The events of a claim that was just written, and the row.

/** SQL: the row just written: live claims of an identifier are written under its lock. */
export const IS_NEW = `id = (SELECT max(id) FROM registrations WHERE identifier = :identifier AND status <> 'failed')
  AND ${IS_ADMITTED}`;

const HELD = `FROM sessions WHERE identifier = :identifier AND ${IS_ADMITTED}`;
const IS_NEW_HOLDER = `FROM registrations WHERE ${IS_NEW} AND holds = 1`;

/** The events of a claim. Emitted after the registration is written and before the session's row is overwritten. */
export const NEWS: readonly EventRows[] = [
  registrationRows('registration.submitted', `FROM registrations WHERE ${IS_NEW}`),
  sessionRows('session.lapsed', `${HELD} AND NOT ${SESSION_IS_LIVE} AND EXISTS (SELECT 1 ${IS_NEW_HOLDER})`),
  {
    type: 'session.taken_over',
    app: ':app',
    data: {
      identifier: maskedIdentifier('identifier'),
      channel: ':channel',
      did: ':did',
      previous_did: 'did',
    },
    from: `${HELD} AND did <> :did AND ${SESSION_IS_LIVE} AND EXISTS (SELECT 1 ${IS_NEW_HOLDER})`,
  },
  claimedSession('session.created', `NOT EXISTS (SELECT 1 ${HELD} AND ${SESSION_IS_LIVE})`),
  claimedSession('session.linked', `NOT EXISTS (SELECT 1 ${HELD} AND did = :did AND linked = 1)`),
];

const [SUBMITTED, ...SESSION_NEWS] = NEWS as [EventRows, ...EventRows[]];
/** Those of a claim whose proof is verified already. */
export const PROVEN_NEWS: readonly EventRows[] = [
  SUBMITTED,
  registrationRows('registration.proven', `FROM registrations WHERE ${IS_NEW}`),
  ...SESSION_NEWS,
];

/** The event of the session that the claim opens or links. */
function claimedSession(type: 'session.created' | 'session.linked', when: string): EventRows {
  return sessionRows(type, `${IS_NEW_HOLDER} AND ${when}`);
}
