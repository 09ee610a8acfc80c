import * as v from 'valibot';
import { RANGE_NAMES, readActivity } from '../../lib/monitoring/minutes.ts';
import { Activity } from '../answers/console.ts';
import { optional } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';

const rangeName = v.picklist(RANGE_NAMES, `Invalid range. Must be of ${RANGE_NAMES.join(', ')}`);

/** The vault's activity by minute, for the operator's charts. */
export const historyRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/history', {
      summary: 'The activity of all processes in the last hour or day',
      answers: { 200: Activity },
      fields: { range: optional(rangeName) },
      async handler({ ctx, input: { range = 'hour' } }) {
        return json(await readActivity(ctx, range));
      },
    }),
  ),
] as const satisfies readonly Route[];
