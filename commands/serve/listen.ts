import { describeError, type Log } from '../../lib/base/log.ts';
import type { Config } from '../../lib/config/config.ts';
import type { Vault } from '../../routes/index.ts';
import type { Inflight } from './inflight.ts';

/**
 * A connection may be silent this long: longer than the longest upstream call, and at least two heartbeats of a stream.
 */
export const CONNECTION_IDLE_SECONDS_MIN = 60;

/** A server that listens. */
export type Server = ReturnType<typeof Bun.serve>;

/** Listens at once; requests wait for `ready`. Throws an `Error` that says what to do about the port. */
export function listen(config: Config, inflight: Inflight, ready: Promise<Vault>, log: Log): Server {
  const fail = (error: unknown) => {
    log({ level: 'error', event: 'request_failed', ...describeError(error) });
    return failure(500, 'internal_error');
  };
  // The routes bound bodies themselves and answer with CORS headers; Bun's own limit would answer without.
  const bounds = {
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: idleSeconds(config.streamHeartbeatSeconds),
  };
  let vault: Vault | undefined;
  ready.then(
    (started) => {
      vault = started;
    },
    () => undefined,
  );
  try {
    return Bun.serve({
      hostname: config.host,
      port: config.port,
      development: false,
      // Unless told so, Bun 1.4 shares a port with other programs that listen on it, and each gets a part of the
      // requests.
      reusePort: false,
      ...bounds,
      error: fail,
      fetch(request, server) {
        const peer = server.requestIP(request)?.address;
        return inflight.track(
          vault ? vault.fetch(request, { peer }) : ready.then((one) => one.fetch(request, { peer })),
        );
      },
    });
  } catch (error) {
    throw new Error(explainListen(error, config.host, config.port), { cause: error });
  }
}

/** An answer of the server itself, where the vault gives none. */
export function failure(status: number, error: string): Response {
  return Response.json(
    { error },
    { status, headers: { 'access-control-allow-origin': '*', 'cache-control': 'no-store' } },
  );
}

/** Bun takes at most 255 s. */
function idleSeconds(heartbeatSeconds: number): number {
  return Math.min(255, Math.max(CONNECTION_IDLE_SECONDS_MIN, 2 * heartbeatSeconds));
}

function explainListen(error: unknown, host: string, port: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return `port ${port} on ${host} is in use: stop the program that listens there, or choose another port with --port (0 picks a free one)`;
  if (code === 'EACCES')
    return `port ${port} needs privileges that this user lacks: choose a port above 1023 with --port`;
  return `cannot listen on ${host} port ${port}: ${error instanceof Error ? error.message : error}`;
}
