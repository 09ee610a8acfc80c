import { createWork, type Work } from '../lib/background.ts';
import { type Context, createContext, demandLog } from '../lib/context.ts';
import type { Begun, Env } from '../lib/env.ts';
import { accountPageRoutes } from './account.ts';
import { accountRoutes } from './accounts.ts';
import { aliasRoutes } from './aliases.ts';
import { approveRoutes } from './approve.ts';
import { authorizeRoutes } from './authorize.ts';
import { authorizePageRoutes } from './authorize-page.ts';
import { balanceRoutes } from './balance.ts';
import { brandRoutes } from './brand.ts';
import { bundlerRoutes } from './bundler.ts';
import { clientRoutes } from './client.ts';
import { clientScriptRoutes } from './client-script.ts';
import { appRoutes } from './console/apps.ts';
import { doctorRoutes } from './console/doctor.ts';
import { eventRoutes } from './console/events.ts';
import { historyRoutes } from './console/history.ts';
import { inviteRoutes } from './console/invites.ts';
import { limitRoutes } from './console/limits.ts';
import { messageRoutes } from './console/messages.ts';
import { operatorRoutes } from './console/operators.ts';
import { overviewRoutes } from './console/overview.ts';
import { consolePageRoutes } from './console/page.ts';
import { personRoutes } from './console/person.ts';
import { recoveryConsoleRoutes } from './console/recoveries.ts';
import { registrationRoutes } from './console/registrations.ts';
import { sessionConsoleRoutes } from './console/sessions.ts';
import { settingRoutes } from './console/settings.ts';
import { tokenRoutes } from './console/tokens.ts';
import { webhookRoutes } from './console/webhooks.ts';
import { contractRoutes } from './contracts.ts';
import { credentialRoutes } from './credentials.ts';
import { didRoutes } from './dids.ts';
import { enclaveRoutes } from './enclave.ts';
import { healthRoutes } from './health.ts';
import type { OperationsOf } from './http/operations.ts';
import type { Route } from './http/route.ts';
import { type Connection, createRouter } from './http/router.ts';
import { indexerRoutes } from './indexer.ts';
import { jwksRoutes } from './jwks.ts';
import { landingRoutes } from './landing.ts';
import { metricsRoutes } from './metrics.ts';
import { openApiRoutes } from './openapi.ts';
import { passRoutes } from './pass.ts';
import { payRoutes } from './pay.ts';
import { recoveryRoutes } from './recoveries.ts';
import { resolutionRoutes } from './resolution.ts';
import { sessionRoutes } from './sessions.ts';
import { statusRoutes } from './status.ts';
import { tokenEndpointRoutes } from './token.ts';
import { userinfoRoutes } from './userinfo.ts';
import { verifyRoutes } from './verify.ts';
import { wellKnownRoutes } from './well-known.ts';
import { wordRoutes } from './words.ts';

export type { Env } from '../lib/env.ts';
export type { Assets } from '../lib/static-files.ts';
export type { Connection } from './http/router.ts';

/** Every route, in one list: the server, the documents and the tests read it. */
export const ROUTES = [
  ...enclaveRoutes,
  ...clientScriptRoutes,
  ...statusRoutes,
  ...openApiRoutes,
  ...clientRoutes,
  ...contractRoutes,
  ...sessionRoutes,
  ...verifyRoutes,
  ...didRoutes,
  ...credentialRoutes,
  ...resolutionRoutes,
  ...aliasRoutes,
  ...accountRoutes,
  ...recoveryRoutes,
  ...balanceRoutes,
  ...bundlerRoutes,
  ...indexerRoutes,
  ...brandRoutes,
  ...wordRoutes,
  ...passRoutes,
  ...payRoutes,
  ...approveRoutes,
  ...accountPageRoutes,
  ...authorizeRoutes,
  ...authorizePageRoutes,
  ...tokenEndpointRoutes,
  ...userinfoRoutes,
  ...jwksRoutes,
  ...landingRoutes,
  ...wellKnownRoutes,
  ...healthRoutes,
  ...appRoutes,
  ...settingRoutes,
  ...tokenRoutes,
  ...operatorRoutes,
  ...registrationRoutes,
  ...sessionConsoleRoutes,
  ...personRoutes,
  ...recoveryConsoleRoutes,
  ...limitRoutes,
  ...inviteRoutes,
  ...overviewRoutes,
  ...historyRoutes,
  ...messageRoutes,
  ...doctorRoutes,
  ...consolePageRoutes,
  ...eventRoutes,
  ...metricsRoutes,
  ...webhookRoutes,
] as const satisfies readonly Route[];

/** The operations by method and path, such as `POST /api/verify/send`: their inputs and answers, on the wire. */
export type Operations = OperationsOf<typeof ROUTES>;

/**
 * A running vault: `fetch` and `work` never throw; `work` must be called about every second; `close` waits for open
 * writes.
 */
export interface Vault {
  /** `connection` says what the host knows of it; a host without `peer` puts all clients into one limit. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /**
   * Does background work until it is done or `deadlineMs` (on the vault's clock) has passed. A task that
   * waits for an upstream goes on beside the next calls: call it at a fixed pace, also before the last call resolves.
   */
  work(deadlineMs: number): Promise<void>;
  /**
   * Ends all event streams and takes no new ones, and makes `/readyz` 503. A host that stops calls it first: no stream
   * ends by itself.
   */
  endStreams(): void;
  /** Ends the streams, and resolves once no write is under way. */
  close(): Promise<void>;
}

/**
 * Assembles a vault. Nothing runs until `fetch` or `work` is called; tables are made at first use. Throws `ConfigError`
 * naming every faulty setting. `begun` is for a host that has read the settings itself.
 */
export function createVault(env: Env, begun?: Begun): Vault {
  const ctx = createContext(env, begun);
  demandLog(ctx, env);
  let work: Work | undefined;
  return {
    fetch: createRouter(ctx, ROUTES),
    async work(deadlineMs) {
      work ??= createWork(ctx);
      return work.run(deadlineMs);
    },
    close() {
      work?.stop();
      return end(ctx);
    },
    endStreams: () => ctx.hub.close(),
  };
}

async function end({ db, hub, leases }: Context): Promise<void> {
  hub.close();
  // A lease that cannot be given back lapses by itself.
  await leases.release().catch(() => undefined);
  await db.idle();
}
