import { readEventSpan } from '../../lib/events/read.ts';
import { readOverview } from '../../lib/monitoring/overview.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';

/** What is shown of events while the database is away. */
const NO_EVENTS = { oldest: 0, newest: 0 };

const routes: readonly Route[] = [
  get('/v1/console/overview', {
    async handler({ ctx, client }) {
      const span = await readEventSpan(ctx.db).catch(() => NO_EVENTS);
      return json(await readOverview(ctx, span, client));
    },
  }),
];

/** What the vault is doing, for the operator (completions section 11). */
export const overviewRoutes: readonly Route[] = routes.map(requireOperator);
