import * as v from 'valibot';
import { readEventSpan } from '../../lib/events/read.ts';
import { RANGE_NAMES, readActivity } from '../../lib/monitoring/minutes.ts';
import { readOverview } from '../../lib/monitoring/overview.ts';
import { Activity, Overview } from '../answers/console.ts';
import { optional } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';

const rangeName = v.picklist(RANGE_NAMES, `Invalid range. Must be of ${RANGE_NAMES.join(', ')}`);

/** What is shown of events while the database is away. */
const NO_EVENTS = { oldest: 0, newest: 0 };

/** What the vault is doing, for the operator (completions section 11). */
export const overviewRoutes = [
  requireOperator(
    get('/v1/console/overview', {
      summary: 'What the process that answers is doing',
      answers: { 200: Overview },
      async handler({ ctx, client }) {
        const span = await readEventSpan(ctx.db).catch(() => NO_EVENTS);
        return json(await readOverview(ctx, span, client));
      },
    }),
  ),

  requireOperator(
    get('/v1/console/history', {
      summary: 'What all processes did in the last hour or day',
      answers: { 200: Activity },
      fields: { range: optional(rangeName) },
      async handler({ ctx, input: { range = 'hour' } }) {
        return json(await readActivity(ctx, range));
      },
    }),
  ),
] as const satisfies readonly Route[];
