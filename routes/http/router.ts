import { Router } from 'itty-router';
import { asVaultError, DatabaseUnavailable, type ErrorCode, VaultError } from '../../lib/base/error.ts';
import { describeError, type LogLevel } from '../../lib/base/log.ts';
import { randomId } from '../../lib/base/random.ts';
import type { Context } from '../../lib/context.ts';
import { DEFAULT_APP } from '../../lib/events/catalogue.ts';
import { recordRefusal } from '../../lib/limits/limit-events.ts';
import { createReadLimit, createRequestLimit } from '../../lib/limits/limits.ts';
import { createAdminRule, isAdminPath } from './admin.ts';
import { createFindClient } from './client-address.ts';
import { createHosts } from './host.ts';
import { createMeasure } from './measure.ts';
import { missingPage } from './missing-page.ts';
import { createCheckOrigin, isShared } from './origin.ts';
import {
  callerRequestId,
  createRespond,
  failureReply,
  preflightReply,
  type Reply,
  wrongMethodReply,
} from './response.ts';
import type { Limits, Route } from './route.ts';
import { pathOf } from './target.ts';

/** The routes of one path, by method. */
interface Family {
  readonly path: string;
  readonly methods: readonly string[];
  readonly byMethod: ReadonlyMap<string, Route>;
  readonly isAdmin: boolean;
}

/** A request's connection, as the host knows it. */
export interface Connection {
  /** The address of the socket's other end, where the host knows it. */
  readonly peer?: string | undefined;
  /** Whether it came to the listener of `ADMIN_PORT`. */
  readonly admin?: boolean | undefined;
}

/** The boundary: finds the route of a request, runs it, and turns reply or failure into a response. Never throws. */
export function createRouter(ctx: Context, routes: readonly Route[]) {
  const find = createFind(routes);
  const hosts = createHosts(ctx.config);
  const mayReach = createAdminRule(ctx.config, hosts);
  const checkOrigin = createCheckOrigin(ctx.config, hosts);
  const findClient = createFindClient(ctx, hosts);
  const limits = createLimits(ctx);
  const measure = createMeasure(ctx);
  const respond = createRespond(ctx.config);
  const freshId = createRequestIds(ctx);
  const refusals = ctx.metrics.counter('vault_refusals_total');
  const countRefusal = (family: Family | undefined, error: ErrorCode) =>
    refusals.add({ route: family?.path ?? 'unknown', error });
  return async (request: Request, connection?: Connection): Promise<Response> => {
    const startedAt = ctx.clock.monotonic();
    const requestId = callerRequestId(request) ?? freshId();
    let family: Family | undefined;
    let route: Route | undefined;
    let reply: Reply;
    try {
      hosts.check(request);
      const found = find(request);
      family = found instanceof Promise ? await found : found;
      if (!mayReach(request, family, connection?.admin === true)) family = undefined;
      const chosen = chooseRoute(family, request.method);
      if ('status' in chosen) {
        reply = chosen;
        if (reply.status === 405) countRefusal(family, 'method_not_allowed');
      } else {
        const called = chosen;
        route = called;
        // The origin of a page's own form is "null" under no-referrer; the fields of such a form must show its right.
        if (called.method === 'POST' && called.body !== 'form' && !called.isOAuth) checkOrigin(request);
        const peer = connection?.peer;
        const client = findClient(request, peer, called);
        const app = appOf(ctx.config.apps, request);
        reply = await ctx.run((own) => called.handle({ ctx: own, app, request, client, peer }, limits));
      }
    } catch (error) {
      await ctx.run((own) => recordRefusal(own, appOf(ctx.config.apps, request), error));
      countRefusal(family, asVaultError(error).code);
      const page = connection?.admin ? undefined : await missingPage(ctx, request, route, error);
      reply = page ?? failureReply(error, { isOAuth: route?.isOAuth === true });
      if (reply.status >= 500) logFailure(ctx, request, requestId, error);
    }
    measure(request, family?.path ?? 'unknown', reply.status, startedAt, requestId);
    const app = request.headers.has('x-vault-app') ? appOf(ctx.config.apps, request) : undefined;
    const isHead = request.method === 'HEAD';
    return respond(reply, requestId, { isHead, isShared: isShared(pathOf(request.url)), app });
  };
}

/** The app that the request names by `X-Vault-App` where the vault knows it, else `default`. */
function appOf(apps: readonly string[], request: Request): string {
  const named = apps.length > 0 ? request.headers.get('x-vault-app') : null;
  return named !== null && apps.includes(named) ? named : DEFAULT_APP;
}

/** The route of the method, or the reply where there is none. Throws 404 `not_found`. */
function chooseRoute(family: Family | undefined, method: string): Route | Reply {
  if (method === 'OPTIONS') return preflightReply(family?.methods ?? ['GET', 'POST']);
  if (!family) throw new VaultError('not_found');
  return family.byMethod.get(method === 'HEAD' ? 'GET' : method) ?? wrongMethodReply(family.methods);
}

/**
 * Exact paths by a map, the others by itty's router, whose matching is linear and costs a URL parse
 * (`docs/decisions/0001-routing.md`).
 */
function createFind(routes: readonly Route[]): (request: Request) => Family | undefined | Promise<Family | undefined> {
  const families = familiesOf(routes);
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

/** By path. */
function familiesOf(routes: readonly Route[]): ReadonlyMap<string, Family> {
  const byPath = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const byMethod = byPath.get(route.path) ?? new Map<string, Route>();
    byPath.set(route.path, byMethod.set(route.method, route));
  }
  const families = new Map<string, Family>();
  for (const [path, byMethod] of byPath)
    families.set(path, { path, methods: [...byMethod.keys()], byMethod, isAdmin: isAdminPath(path) });
  return families;
}

function createLimits(ctx: Context): Limits {
  return {
    writes: createRequestLimit(ctx, 'writes-per-ip'),
    reads: createReadLimit(ctx),
    proxy: createRequestLimit(ctx, 'proxy-per-ip'),
    operator: createRequestLimit(ctx, 'operator-failures-per-ip'),
    app: createRequestLimit(ctx, 'requests-per-app'),
  };
}

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
  const level = levelOf(error);
  log({ level, event: 'request_failed', method: request.method, path, requestId, message, stack, cause });
}

/** The log says once that the database is away, not at each request. */
function levelOf(error: unknown): LogLevel {
  if (error instanceof DatabaseUnavailable) return 'debug';
  return error instanceof VaultError ? 'warn' : 'error';
}
