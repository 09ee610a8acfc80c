import * as v from 'valibot';
import { STORED_LIMITS } from '../../lib/limits/catalogue.ts';
import { clearLimit, showLimits } from '../../lib/limits/report.ts';
import { LimitCleared, LimitUses } from '../answers/console.ts';
import { optional, required, textField } from '../http/fields.ts';
import { demandRole, requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, post, type Route } from '../http/route.ts';

const limitKind = v.picklist(STORED_LIMITS, `Invalid kind. Must be of ${STORED_LIMITS.join(', ')}`);

/** Stored limits, shown and cleared by the operator (completions section 11). */
export const limitRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/limits', {
      summary: 'How full the stored limits are',
      answers: { 200: LimitUses },
      fields: { kind: optional(limitKind), key: optional(textField('key')) },
      async handler({ ctx, input, operator }) {
        if (input.key !== undefined) demandRole(operator, 'operator');
        return json({ kinds: STORED_LIMITS, limits: await showLimits(ctx, input) });
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/limits/clear', {
      summary: 'Free a limit',
      answers: { 200: LimitCleared },
      example: { kind: 'emails-per-day' },
      fields: { kind: required(limitKind), key: optional(textField('key')) },
      async handler({ ctx, input }) {
        return json({ ok: true, ...(await clearLimit(ctx, input)) });
      },
    }),
  ),
] as const satisfies readonly Route[];
