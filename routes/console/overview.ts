import { readOverview } from '../../lib/monitoring/overview.ts';
import { eventSpan } from '../../lib/tokens/tokens.ts';
import { json } from '../http/answer.ts';
import { forOperator } from '../http/operator-auth.ts';
import { get, type Row } from '../http/route.ts';

/** What is shown of events while the database is away. */
const NO_EVENTS = { oldest: 0, newest: 0 };

const rows: readonly Row[] = [
  get('/v1/console/overview', {
    async handler({ vault }) {
      return json(await readOverview(vault, await eventSpan(vault).catch(() => NO_EVENTS)));
    },
  }),
];

/** What the vault is doing, for the operator (completions section 11). */
export const overviewRoutes: readonly Row[] = rows.map(forOperator);
