import { Router } from 'itty-router';
import { VaultError } from '../../lib/base/error.ts';
import { describeError } from '../../lib/base/log.ts';
import { randomId } from '../../lib/base/random.ts';
import type { Context } from '../../lib/context.ts';
import { DEFAULT_APP } from '../../lib/events/catalogue.ts';
import { recordRefusal } from '../../lib/limits/limit-events.ts';
import { createRequestLimit } from '../../lib/limits/limits.ts';
import { createFindClient } from './client-address.ts';
import { callerRequestId, failureReply, preflightReply, type Reply, respond, wrongMethodReply } from './response.ts';
import type { Incoming, Limits, Route } from './route.ts';
import { checkHost, pathOf } from './target.ts';

/** The routes of one path, by method. */
type Family = ReadonlyMap<string, Route>;

/** The boundary: finds the route of a request, runs it, and turns reply or failure into a response. Never throws. */
export function createRouter(ctx: Context, routes: readonly Route[]) {
  const find = createFind(routes);
  const findClient = createFindClient(ctx);
  const limits = createLimits(ctx);
  const measure = createMeasure(ctx);
  const freshId = createRequestIds(ctx);
  return async (request: Request, connection?: { readonly peer?: string | undefined }): Promise<Response> => {
    const startedAt = ctx.clock.monotonic();
    const requestId = callerRequestId(request) ?? freshId();
    let family: Family | undefined;
    let reply: Reply;
    try {
      checkHost(request);
      const found = find(request);
      family = found instanceof Promise ? await found : found;
      const route = chooseRoute(family, request.method);
      if ('status' in route) reply = route;
      else {
        const peer = connection?.peer;
        const client = findClient(request, peer);
        const app = appOf(ctx.config.apps, request);
        reply = await ctx.run((own) => runRoute(route, { ctx: own, app, request, client, peer }, limits));
      }
    } catch (error) {
      reply = failureReply(error);
      if (reply.status >= 500) logFailure(ctx, request, requestId, error);
    }
    measure(request, labelOf(family), reply.status, startedAt, requestId);
    return respond(reply, requestId, request.method === 'HEAD');
  };
}

/** Runs the route; a limit's refusal becomes an event. */
async function runRoute(route: Route, incoming: Incoming, limits: Limits): Promise<Reply> {
  try {
    return await route.handle(incoming, limits);
  } catch (error) {
    recordRefusal(incoming.ctx, incoming.app, error);
    throw error;
  }
}

/** The app that the request names by `X-Vault-App` where the vault knows it, else `default`. */
function appOf(apps: readonly string[], request: Request): string {
  const named = apps.length > 0 ? request.headers.get('x-vault-app') : null;
  return named !== null && apps.includes(named) ? named : DEFAULT_APP;
}

/** The route of the method, or the reply where there is none. Throws 404 `not_found`. */
function chooseRoute(family: Family | undefined, method: string): Route | Reply {
  if (method === 'OPTIONS') return preflightReply(family ? [...family.keys()] : ['GET', 'POST']);
  if (!family) throw new VaultError('not_found');
  return family.get(method === 'HEAD' ? 'GET' : method) ?? wrongMethodReply([...family.keys()]);
}

/**
 * Exact paths by a map, the others by itty's router, whose matching is linear and costs a URL parse
 * (`docs/decisions/0001-routing.md`).
 */
function createFind(routes: readonly Route[]): (request: Request) => Family | undefined | Promise<Family | undefined> {
  const families = new Map<string, Map<string, Route>>();
  for (const route of routes)
    families.set(route.path, (families.get(route.path) ?? new Map()).set(route.method, route));
  const patterns = Router();
  for (const [path, family] of families) if (/[:*]/.test(path)) patterns.all(path, () => family);
  return ({ method, url }) => {
    const path = pathOf(url);
    const family = families.get(path);
    if (family) return family;
    // The router parses a whole URL and looks at its path alone, so the host may be any.
    return patterns.fetch({ method, url: `http://vault${path}` }) as Promise<Family | undefined>;
  };
}

/** The path of the routes as a metric label; `unknown` where none was found. */
function labelOf(family: Family | undefined): string {
  for (const route of family?.values() ?? []) return route.path;
  return 'unknown';
}

function createLimits(ctx: Context): Limits {
  return {
    writes: createRequestLimit(ctx, 'writes-per-ip'),
    reads: createRequestLimit(ctx, 'reads-per-ip'),
    proxy: createRequestLimit(ctx, 'proxy-per-ip'),
    operator: createRequestLimit(ctx, 'operator-failures-per-ip'),
  };
}

/** Counts and times a request under its route's path, never the caller's; at `debug` one log line each. */
function createMeasure({ clock, config, metrics, log }: Context) {
  const requests = metrics.counter('vault_http_requests_total');
  const durations = metrics.histogram('vault_http_request_duration_seconds');
  const known = new Map<string, Map<string, ReturnType<typeof make>[]>>();
  const make = (route: string, method: string, status: number) => ({
    count: requests.of({ route, method, status: String(status) }),
    duration: durations.of({ route }),
  });
  // By route, method and status without a text made for each request: this runs once a request.
  const seriesOf = (route: string, method: string, status: number) => {
    const methods = known.get(route) ?? remember(known, route, new Map<string, ReturnType<typeof make>[]>());
    const statuses = methods.get(method) ?? remember(methods, method, []);
    statuses[status] ??= make(route, method, status);
    return statuses[status];
  };
  const logsRequests = config.logLevel === 'debug';
  return (request: Request, route: string, status: number, startedAt: number, requestId: string): void => {
    const method = METHODS.has(request.method) ? request.method : 'other';
    const ms = clock.monotonic() - startedAt;
    const { count, duration } = seriesOf(route, method, status);
    count.add();
    duration.observe(ms / 1000);
    if (logsRequests) log({ level: 'debug', event: 'request', method, path: route, status, ms, requestId });
  };
}

function remember<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value);
  return value;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Fresh request ids: unlike each other and any other process's, and cheaper than 16 random bytes each. */
function createRequestIds({ random }: Context): () => string {
  const prefix = randomId(random).slice(0, 20);
  let count = 0;
  return () => prefix + (count++).toString(16).padStart(12, '0');
}

/**
 * The cause goes to the log with the request id, never to the caller; an upstream's failure is a warning, ours an
 * error.
 */
function logFailure({ log }: Context, request: Request, requestId: string, error: unknown): void {
  const { message, stack, cause } = describeError(error);
  const path = pathOf(request.url).slice(0, 200);
  const level = error instanceof VaultError ? 'warn' : 'error';
  log({ level, event: 'request_failed', method: request.method, path, requestId, message, stack, cause });
}
