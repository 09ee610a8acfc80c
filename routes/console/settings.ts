import { readRefusals } from '../../lib/monitoring/refusals.ts';
import { Refusals, SettingsInForce } from '../answers/console.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';

/** The settings in force, and the requests refused in the last hour. */
export const settingRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/settings', {
      summary: 'The settings in force, without secrets',
      answers: { 200: SettingsInForce },
      handler({ ctx }) {
        return json({ settings: ctx.settings() });
      },
    }),
  ),

  requireOperator(
    'viewer',
    get('/v1/console/refusals', {
      summary: 'The requests that all processes refused in the last hour, by error and route',
      answers: { 200: Refusals },
      async handler({ ctx }) {
        return json(await readRefusals(ctx));
      },
    }),
  ),
] as const satisfies readonly Route[];
