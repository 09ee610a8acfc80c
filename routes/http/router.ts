import { Router } from 'itty-router';
import { VaultError } from '../../lib/base/error.ts';
import { describeError } from '../../lib/base/log.ts';
import { randomId } from '../../lib/base/random.ts';
import { OPERATOR_FAILURES_MAX } from '../../lib/constants.ts';
import type { Context } from '../../lib/context.ts';
import { DEFAULT_APP } from '../../lib/events/catalogue.ts';
import { noteRefusal } from '../../lib/limits/limit-events.ts';
import { createFailureLimit, createRequestLimit } from '../../lib/limits/limits.ts';
import type { Answer } from './answer.ts';
import { createFindClient } from './client-address.ts';
import { answerFailure, answerPreflight, answerWrongMethod, callerRequestId, respond } from './response.ts';
import type { Incoming, Limits, Row } from './route.ts';
import { checkHost, pathOf } from './target.ts';

/** The rows of one path, by method. */
type Family = ReadonlyMap<string, Row>;

/** The boundary: finds the row, runs it, and turns whatever comes of it into a response. Never throws. */
export function createServe(vault: Context, rows: readonly Row[]) {
  const find = createFind(rows);
  const findClient = createFindClient(vault);
  const limits = createLimits(vault);
  const measure = createMeasure(vault);
  const freshId = createRequestIds(vault);
  return async (request: Request, connection?: { readonly peer?: string | undefined }): Promise<Response> => {
    const startedAt = vault.clock.monotonic();
    const requestId = callerRequestId(request) ?? freshId();
    let family: Family | undefined;
    let answer: Answer;
    try {
      checkHost(request);
      const found = find(request);
      family = found instanceof Promise ? await found : found;
      const row = rowOf(family, request.method);
      if ('status' in row) answer = row;
      else {
        const peer = connection?.peer;
        const client = findClient(request, peer);
        const app = appOf(vault.config.apps, request);
        answer = await vault.run((own) => answerRow(row, { vault: own, app, request, client, peer }, limits));
      }
    } catch (error) {
      answer = answerFailure(error);
      if (answer.status >= 500) logFailure(vault, request, requestId, error);
    }
    measure(request, routeOf(family), answer.status, startedAt, requestId);
    return respond(answer, requestId, request.method === 'HEAD');
  };
}

/** Runs the row; a limit's refusal is told of. */
async function answerRow(row: Row, incoming: Incoming, limits: Limits): Promise<Answer> {
  try {
    return await row.answer(incoming, limits);
  } catch (error) {
    noteRefusal(incoming.vault, incoming.app, error);
    throw error;
  }
}

/** The app that the request names by `X-Vault-App` where the vault knows it, else `default`. */
function appOf(apps: readonly string[], request: Request): string {
  const named = apps.length > 0 ? request.headers.get('x-vault-app') : null;
  return named !== null && apps.includes(named) ? named : DEFAULT_APP;
}

/** The row that serves the method, or the answer there is without one. Throws 404 `not_found`. */
function rowOf(family: Family | undefined, method: string): Row | Answer {
  if (method === 'OPTIONS') return answerPreflight(family ? [...family.keys()] : ['GET', 'POST']);
  if (!family) throw new VaultError('not_found');
  return family.get(method === 'HEAD' ? 'GET' : method) ?? answerWrongMethod([...family.keys()]);
}

/** Exact paths by a map, the others by itty's router, whose matching is linear and costs a URL parse (`docs/decisions/0001-routing.md`). */
function createFind(rows: readonly Row[]): (request: Request) => Family | undefined | Promise<Family | undefined> {
  const families = new Map<string, Map<string, Row>>();
  for (const row of rows) families.set(row.path, (families.get(row.path) ?? new Map()).set(row.method, row));
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

/** The path of the rows, the same for all; what was not found is counted as one. */
function routeOf(family: Family | undefined): string {
  for (const row of family?.values() ?? []) return row.path;
  return 'unknown';
}

function createLimits(vault: Context): Limits {
  const { rateLimitReadsPerIp, rateLimitProxyPerIp } = vault.config;
  return {
    reads: createRequestLimit(vault, { name: 'reads-per-ip', limit: rateLimitReadsPerIp }),
    proxy: createRequestLimit(vault, { name: 'proxy-per-ip', limit: rateLimitProxyPerIp }),
    operator: createFailureLimit(vault, { name: 'operator-failures-per-ip', limit: OPERATOR_FAILURES_MAX }),
  };
}

/** Counts and times a request under its route's path, never the caller's; at `debug` one log line each. */
function createMeasure({ clock, config, metrics, log }: Context) {
  const requests = metrics.counter('vault_http_requests_total', 'HTTP requests answered.');
  const durations = metrics.histogram('vault_http_request_duration_seconds', 'Time from request to answer.');
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

/** The cause goes to the log with the request id, never to the caller; what an upstream did is a warning, the rest is a fault of ours. */
function logFailure({ log }: Context, request: Request, requestId: string, error: unknown): void {
  const { message, stack, cause } = describeError(error);
  const path = pathOf(request.url).slice(0, 200);
  const level = error instanceof VaultError ? 'warn' : 'error';
  log({ level, event: 'request_failed', method: request.method, path, requestId, message, stack, cause });
}
