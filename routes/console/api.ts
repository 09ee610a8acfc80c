import * as v from 'valibot';
import { EVENT_CHANNELS } from '../../lib/events/catalogue.ts';
import { clearLimit, STORED_LIMITS, showLimits } from '../../lib/limits/report.ts';
import { readOverview } from '../../lib/monitoring/overview.ts';
import { eventSpan, findRegistrations, issueToken, revoke } from '../../lib/tokens/tokens.ts';
import { json } from '../http/answer.ts';
import { credentialIdText, didText, identifierText, optional, required, text, word } from '../http/fields.ts';
import { forOperator } from '../http/operator-auth.ts';
import { get, post, type Row } from '../http/route.ts';
import { appName } from './events.ts';

/** What is shown of events while the database is away. */
const NO_EVENTS = { oldest: 0, newest: 0 };

const limitKind = v.picklist(STORED_LIMITS, `Invalid kind. Must be of ${STORED_LIMITS.join(', ')}`);
const eventChannel = v.picklist(EVENT_CHANNELS, `Invalid channel. Must be one of ${EVENT_CHANNELS.join(', ')}`);

const rows: readonly Row[] = [
  post('/v1/console/token', {
    fields: { app: required(appName), channel: optional(eventChannel) },
    async handler({ vault, input }) {
      return json(await issueToken(vault, input));
    },
  }),

  post('/v1/console/revoke', {
    fields: { cid: required(word('cid')) },
    async handler({ vault, input }) {
      const { cid, isNew } = await revoke(vault, input.cid);
      return json({ ok: true, cid, revoked: isNew });
    },
  }),

  get('/v1/console/registrations', {
    fields: {
      identifier: optional(identifierText),
      credentialId: optional(credentialIdText),
      did: optional(didText),
    },
    async handler({ vault, input }) {
      return json({ registrations: await findRegistrations(vault, input) });
    },
  }),

  get('/v1/console/limits', {
    fields: { kind: optional(limitKind), key: optional(text('key')) },
    async handler({ vault, input }) {
      return json({ kinds: STORED_LIMITS, limits: await showLimits(vault, input) });
    },
  }),

  post('/v1/console/limits/clear', {
    fields: { kind: required(limitKind), key: optional(text('key')) },
    async handler({ vault, input }) {
      return json({ ok: true, ...(await clearLimit(vault, input)) });
    },
  }),

  get('/v1/console/overview', {
    async handler({ vault }) {
      return json(await readOverview(vault, await eventSpan(vault).catch(() => NO_EVENTS)));
    },
  }),
];

/** What only the operator may do, with `Authorization: Bearer OPERATOR_SECRET` (completions section 11). */
export const consoleRoutes: readonly Row[] = rows.map(forOperator);
