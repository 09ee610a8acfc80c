import { readEventSpan } from '../../lib/events/read.ts';
import { readOverview } from '../../lib/monitoring/overview.ts';
import { Overview } from '../answers/console.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';

/** Stands for the events' range while the database is away. */
const NO_EVENTS = { oldest: 0, newest: 0 };

/** The vault's state now, for the operator (completions section 11). */
export const overviewRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/overview', {
      summary: 'The state of the answering process',
      answers: { 200: Overview },
      async handler({ ctx, client }) {
        const span = await readEventSpan(ctx.db).catch(() => NO_EVENTS);
        return json(await readOverview(ctx, span, client));
      },
    }),
  ),
] as const satisfies readonly Route[];
