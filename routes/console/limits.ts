import * as v from 'valibot';
import { STORED_LIMITS } from '../../lib/limits/catalogue.ts';
import { clearLimit, showLimits } from '../../lib/limits/report.ts';
import { optional, required, textField } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, post, type Route } from '../http/route.ts';

const limitKind = v.picklist(STORED_LIMITS, `Invalid kind. Must be of ${STORED_LIMITS.join(', ')}`);

const routes: readonly Route[] = [
  get('/v1/console/limits', {
    fields: { kind: optional(limitKind), key: optional(textField('key')) },
    async handler({ ctx, input }) {
      return json({ kinds: STORED_LIMITS, limits: await showLimits(ctx, input) });
    },
  }),

  post('/v1/console/limits/clear', {
    fields: { kind: required(limitKind), key: optional(textField('key')) },
    async handler({ ctx, input }) {
      return json({ ok: true, ...(await clearLimit(ctx, input)) });
    },
  }),
];

/** Stored limits, shown and cleared by the operator (completions section 11). */
export const limitRoutes: readonly Route[] = routes.map(requireOperator);
