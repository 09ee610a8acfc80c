import { type ErrorCode, VaultError } from '../../lib/base/error.ts';
import { describeError, type Log } from '../../lib/base/log.ts';
import { randomId, systemRandom } from '../../lib/base/random.ts';
import type { Config } from '../../lib/config/config.ts';
import { callerRequestId, createRespond, failureReply } from '../../routes/http/response.ts';
import type { Vault } from '../../routes/index.ts';
import type { Inflight } from './inflight.ts';

/**
 * A connection may be silent this long: longer than the longest upstream call, and at least two heartbeats of a stream.
 */
export const CONNECTION_IDLE_SECONDS_MIN = 60;

/** A server that listens. */
export type Server = ReturnType<typeof Bun.serve>;

/** The parts of a server besides its address. */
interface Serving {
  readonly config: Config;
  readonly inflight: Inflight;
  readonly ready: Promise<Vault>;
  readonly log: Log;
}

/** Listens at `PORT` at once; requests wait for `ready`. Throws an `Error` that says what to do about the port. */
export function listen(serving: Serving): Server {
  return listenAt({ host: serving.config.host, port: serving.config.port, flag: '--port', isAdmin: false }, serving);
}

/** Listens at `ADMIN_PORT` too, where that is set. Throws as `listen` does. */
export function listenForAdmin(serving: Serving): Server | undefined {
  const { adminHost: host, adminPort: port } = serving.config;
  return port === undefined ? undefined : listenAt({ host, port, flag: '--admin-port', isAdmin: true }, serving);
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly flag: string;
  readonly isAdmin: boolean;
}

function listenAt({ host, port, flag, isAdmin }: Place, { config, inflight, ready, log }: Serving): Server {
  const answer = createOwnAnswer(config);
  const fail = (error: unknown, request?: Request) => {
    log({ level: 'error', event: 'request_failed', ...describeError(error) });
    return answer('internal_error', request);
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
      hostname: host,
      port,
      development: false,
      // Unless told so, Bun 1.4 shares a port with other programs that listen on it, and each gets a part of the
      // requests.
      reusePort: false,
      ...bounds,
      error: fail,
      fetch(request, server) {
        const connection = { peer: server.requestIP(request)?.address, admin: isAdmin };
        if (vault) return inflight.track(request, vault.fetch(request, connection));
        const answered = ready.then((one) => one.fetch(request, connection));
        return inflight.track(request, answered).catch((error) => fail(error, request));
      },
    });
  } catch (error) {
    throw new Error(explainListen(error, host, port, flag), { cause: error });
  }
}

/** Makes the answers of the server itself, where the vault gives none; they carry the headers of the vault's. */
export function createOwnAnswer(config: Config): (code: ErrorCode, request?: Request) => Response {
  const respond = createRespond(config);
  return (code, request) => {
    const error = new VaultError(code, code === 'shutting_down' ? { retryAfterSeconds: RESTART_SECONDS } : {});
    const requestId = (request && callerRequestId(request)) ?? randomId(systemRandom);
    return respond(failureReply(error), requestId, { isHead: request?.method === 'HEAD', isShared: true });
  };
}

/** After how long a caller of a stopping vault should try again. */
const RESTART_SECONDS = 5;

/** Bun takes at most 255 s. */
function idleSeconds(heartbeatSeconds: number): number {
  return Math.min(255, Math.max(CONNECTION_IDLE_SECONDS_MIN, 2 * heartbeatSeconds));
}

function explainListen(error: unknown, host: string, port: number, flag: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return `port ${port} on ${host} is in use: stop the program that listens there, or choose another port with ${flag} (0 picks a free one)`;
  if (code === 'EACCES')
    return `port ${port} needs privileges that this user lacks: choose a port above 1023 with ${flag}`;
  if (code === 'EADDRNOTAVAIL')
    return `${host} is not an address of this machine: set HOST to one that is, or to 0.0.0.0 for all of them`;
  return `cannot listen on ${host} port ${port}: ${error instanceof Error ? error.message : error}`;
}
