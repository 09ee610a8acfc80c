import type { Context } from '../../lib/context.ts';

/** Counts and times a request under its route's path, never the caller's; at `debug` one log line each. */
export function createMeasure({ clock, config, metrics, log }: Context) {
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
