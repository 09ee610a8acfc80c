// Hono: `bare` answers and nothing else; `cors` with its middleware for CORS; `packages` does the vault's work with the
// middlewares that Hono's own documentation names; `lean` does it with a limiter and metrics of a few lines.
import { prometheus } from '@hono/prometheus';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { getConnInfo } from 'hono/bun';
import { cors } from 'hono/cors';
import { requestId } from 'hono/request-id';
import { secureHeaders } from 'hono/secure-headers';
import { rateLimiter } from 'hono-rate-limiter';
import { EXPOSED_HEADERS, openRegistrations, STATUS, VAULT_HEADERS } from './work.ts';

const [path = ':memory:', mode = 'bare'] = process.argv.slice(2);
const find = openRegistrations(path);
const WINDOW_MS = 60_000;
const READS_MAX = 1_000_000_000;

const clientOf = (c: Context) => getConnInfo(c).remote.address ?? 'unknown';

/** The headers that the vault sends, and none that it does not. */
const OURS = secureHeaders({
  referrerPolicy: VAULT_HEADERS['Referrer-Policy'],
  xContentTypeOptions: VAULT_HEADERS['X-Content-Type-Options'],
  crossOriginResourcePolicy: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
  removePoweredBy: false,
});

const noStore: MiddlewareHandler = async (c, next) => {
  await next();
  c.header('Cache-Control', VAULT_HEADERS['Cache-Control']);
};

/** A window for each client, in a map. */
function leanLimiter(): MiddlewareHandler {
  const clients = new Map<string, { count: number; resetAt: number }>();
  return async (c, next) => {
    const now = Date.now();
    const client = clientOf(c);
    let used = clients.get(client);
    if (!used || used.resetAt <= now) {
      used = { count: 0, resetAt: now + WINDOW_MS };
      clients.set(client, used);
    }
    if (++used.count > READS_MAX) return c.json({ error: 'too many requests' }, 429);
    return next();
  };
}

/** A counter and a histogram for each route and status. */
function leanMetrics(): MiddlewareHandler {
  const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
  const series = new Map<string, { count: number; sum: number; buckets: number[] }>();
  return async (c, next) => {
    const startedAt = performance.now();
    await next();
    const seconds = (performance.now() - startedAt) / 1000;
    const key = `${c.req.method} ${c.req.path} ${c.res.status}`;
    let one = series.get(key);
    if (!one) {
      one = { count: 0, sum: 0, buckets: bounds.map(() => 0) };
      series.set(key, one);
    }
    one.count++;
    one.sum += seconds;
    const bucket = bounds.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) one.buckets[bucket] = (one.buckets[bucket] ?? 0) + 1;
  };
}

const limiter = rateLimiter({ windowMs: WINDOW_MS, limit: READS_MAX, keyGenerator: clientOf });
const CORS = cors({ origin: '*', exposeHeaders: EXPOSED_HEADERS });
const SETS: Readonly<Record<string, readonly MiddlewareHandler[]>> = {
  bare: [],
  cors: [cors()],
  packages: [prometheus().registerMetrics, requestId(), CORS, OURS, noStore, limiter],
  lean: [leanMetrics(), requestId(), CORS, OURS, noStore, leanLimiter()],
};

const app = new Hono();
for (const middleware of SETS[mode] ?? []) app.use('*', middleware);
app.get('/api/status', (c) => c.json(STATUS));
app.get('/api/dids/lookup', (c) => {
  const found = find(c.req.query('credentialId') ?? '');
  return found ? c.json(found) : c.json({ error: 'not found' }, 404);
});
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch: app.fetch });
console.log(server.port);
