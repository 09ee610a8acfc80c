import * as v from 'valibot';
import { clearLimit, STORED_LIMITS, showLimits } from '../../lib/limits/report.ts';
import { json } from '../http/answer.ts';
import { optional, required, text } from '../http/fields.ts';
import { forOperator } from '../http/operator-auth.ts';
import { get, post, type Row } from '../http/route.ts';

const limitKind = v.picklist(STORED_LIMITS, `Invalid kind. Must be of ${STORED_LIMITS.join(', ')}`);

const rows: readonly Row[] = [
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
];

/** Stored limits, shown and cleared by the operator (completions section 11). */
export const limitRoutes: readonly Row[] = rows.map(forOperator);
