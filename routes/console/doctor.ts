import { parseRecipient, sendCountedTest } from '../../lib/doctor/send-test.ts';
import { DoctorChecks, TestMessage } from '../answers/doctor.ts';
import { required, textField } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, post, type Route } from '../http/route.ts';

/** The checks of `vault doctor`, run inside the vault, for the operator. */
export const doctorRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/doctor', {
      summary: 'Check every dependency, at most every 15 seconds, with remedies',
      answers: { 200: DoctorChecks },
      async handler({ ctx }) {
        return json(await ctx.doctor.report(ctx));
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/doctor/send', {
      summary: 'Send a test mail or SMS through the provider in force, and report the outcome',
      answers: { 200: TestMessage },
      example: { to: 'ada@example.com' },
      fields: { to: required(textField('to')) },
      async handler({ ctx, input }) {
        const { name, ...found } = await sendCountedTest(ctx, parseRecipient(input.to));
        return json({ check: { area: 'delivery', name, ...found } });
      },
    }),
  ),
] as const satisfies readonly Route[];
