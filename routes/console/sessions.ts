import * as v from 'valibot';
import {
  browseSessions,
  exportSessions,
  lookUpSession,
  SESSION_COLUMNS,
  SESSION_STATUSES,
} from '../../lib/sessions/browse.ts';
import { Sessions } from '../answers/registrations.ts';
import { identifierText } from '../fields.ts';
import { optional } from '../http/fields.ts';
import { demandRole, requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';
import { answerFile, EXPORT_ANSWERS, fileFields, filterFields, needNone, pageFields } from './lists.ts';

const filters = {
  status: optional(v.picklist(SESSION_STATUSES, 'Invalid status. Must be "open", "linked" or "lapsed"')),
  ...filterFields,
};

/** Sessions, listed and exported by the operator. */
export const sessionConsoleRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/sessions', {
      summary: 'Sessions, the newest first; or that of an identifier',
      answers: { 200: Sessions },
      example: { status: 'linked' },
      fields: { identifier: optional(identifierText), ...filters, ...pageFields },
      async handler({ ctx, operator, input: { identifier, ...filter } }) {
        if (identifier === undefined) return json(await browseSessions(ctx, filter));
        demandRole(operator, 'operator');
        needNone(filter, 'Expected no filter beside identifier');
        return json(await lookUpSession(ctx, identifier));
      },
    }),
  ),

  requireOperator(
    'operator',
    get('/v1/console/sessions/export', {
      summary: 'Sessions as a file, the newest first',
      answers: EXPORT_ANSWERS,
      example: { format: 'csv' },
      fields: { ...filters, ...fileFields },
      async handler({ ctx, request, input: { format = 'csv', ...filter } }) {
        const open = () => exportSessions(ctx, filter, format);
        const file = { list: 'sessions', columns: SESSION_COLUMNS, format };
        return answerFile({ ...file, request, now: ctx.clock.now(), open });
      },
    }),
  ),
] as const satisfies readonly Route[];
