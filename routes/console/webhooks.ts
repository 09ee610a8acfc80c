import * as v from 'valibot';
import { listDeliveries, resendDead, WEBHOOK_STATUSES } from '../../lib/webhooks/deliveries.ts';
import { Deliveries, DeliveryResent } from '../answers/console.ts';
import { optional, required } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, post, type Route } from '../http/route.ts';

const idText = v.pipe(
  v.string('Invalid before'),
  v.regex(/^[1-9]\d{0,15}$/, 'Invalid before'),
  v.transform(Number),
  v.safeInteger('Invalid before'),
);
const idNumber = v.pipe(v.number('Invalid id'), v.safeInteger('Invalid id'), v.minValue(1, 'Invalid id'));
const statusName = v.picklist(
  WEBHOOK_STATUSES,
  `Invalid status. Must be ${WEBHOOK_STATUSES.map((name) => `"${name}"`).join(', ')}`,
);

/** The operator's view of the webhooks: their outcomes, and the resending of dead ones. */
export const webhookRoutes = [
  requireOperator(
    'operator',
    get('/v1/console/webhooks', {
      summary: 'Webhooks, the newest first',
      answers: { 200: Deliveries },
      fields: { status: optional(statusName), before: optional(idText) },
      async handler({ ctx, input }) {
        return json({ webhooks: await listDeliveries(ctx, input) });
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/webhooks/resend', {
      summary: 'Send a dead webhook again',
      answers: { 200: DeliveryResent },
      errors: ['not_found'],
      fields: { id: required(idNumber) },
      async handler({ ctx, input }) {
        return json({ ok: true, webhook: await resendDead(ctx, input.id) });
      },
    }),
  ),
] as const satisfies readonly Route[];
