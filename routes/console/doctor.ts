import { DoctorChecks } from '../answers/doctor.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';

/** What `vault doctor` checks, from inside the vault, for the operator. */
export const doctorRoutes = [
  requireOperator(
    get('/v1/console/doctor', {
      summary: 'Check every dependency, at most every 15 seconds, and say what to do',
      answers: { 200: DoctorChecks },
      async handler({ ctx }) {
        return json(await ctx.doctor.report(ctx));
      },
    }),
  ),
] as const satisfies readonly Route[];
