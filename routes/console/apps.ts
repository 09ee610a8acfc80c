import { OTHER_CLIENTS } from '../../lib/authorization-codes/count.ts';
import type { Brand } from '../../lib/brand/brands.ts';
import { type Client, isConfidential } from '../../lib/clients/client.ts';
import { type AppActivity, QUIET, readAppActivity } from '../../lib/monitoring/app-activity.ts';
import { methodsOf } from '../../lib/openid/authenticate.ts';
import { describeKeys } from '../../lib/signing/signing-keys.ts';
import { ConsoleApps } from '../answers/console-apps.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';

/** The apps that people sign in to. */
export const appRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/apps', {
      summary: 'The apps of CLIENTS, their sign-ins and refusals of the last day, and the keys of ID tokens',
      answers: { 200: ConsoleApps },
      async handler({ ctx }) {
        const { clients } = ctx;
        const { since, apps } = await readAppActivity(ctx);
        const activityOf = (app: string) => viewOfActivity(apps.get(app) ?? QUIET);
        return json({
          enabled: clients !== undefined,
          since,
          apps: [...(clients?.values() ?? [])].map((client) => ({
            ...viewOf(client, ctx.brandOf(client.id)),
            ...activityOf(client.id),
          })),
          others: activityOf(OTHER_CLIENTS),
          signing_keys: clients ? await describeKeys(ctx, 'RS256') : [],
        });
      },
    }),
  ),
] as const satisfies readonly Route[];

function viewOf(client: Client, { name }: Pick<Brand, 'name'>) {
  return {
    client_id: client.id,
    name,
    kind: isConfidential(client) ? 'confidential' : 'public',
    authentication: methodsOf(client),
    secrets: client.secrets.length,
    pkce: client.needsPkce ? 'required' : 'optional',
    sector: client.sector,
    redirect_uris: client.redirectUris,
  };
}

function viewOfActivity({ issued, exchanged, lastAt, refusals }: AppActivity) {
  return { codes: issued, signins: exchanged, last_signin_at: lastAt, refusals };
}
