import { systemClock } from '../lib/clock.ts';
import {
  CONNECTION_IDLE_SECONDS_MIN,
  STOP_ANSWER_MS,
  STOP_CLOSE_MS,
  STOP_FLUSH_MS,
  WORK_INTERVAL_MS,
  WORK_TURN_MS,
} from '../lib/constants.ts';
import { migrate } from '../lib/db/migrations.ts';
import { atLevel, describeError, type Log } from '../lib/log.ts';
import { createVault, type Vault } from '../routes/index.ts';
import { announce } from './announce.ts';
import { type Arguments, UsageError } from './arguments.ts';
import { openDatabase } from './database.ts';
import { createInflight, type Inflight } from './inflight.ts';
import { createLog } from './log.ts';
import { checkSettings, loadSettings, type Settings } from './settings.ts';
import type { SmtpMailer } from './smtp.ts';

/** Runs the vault until a signal ends it; resolves with the exit code once everything taken is answered and written. Throws when it cannot start. */
export async function serve(given: Arguments): Promise<number> {
  const settings = loadSettings(given);
  const print = createLog(settings.config.logFormat);
  const log = atLevel(settings.config.logLevel, print);
  for (const warning of settings.warnings) log({ level: 'warn', event: 'settings', message: warning });
  const stop = untilStopped(log);
  const inflight = createInflight();
  const ready = Promise.withResolvers<Vault>();
  // Listening comes first because `PORT=0` is known only then; whoever calls meanwhile waits for the vault.
  const server = listen(settings, inflight, ready.promise, log);
  const running = await start(settings, Number(server.port), log).catch((error) => {
    server.stop(true);
    throw error;
  });
  ready.resolve(running.vault);
  announce(running.settings, running.applied, print);
  const work = startWork(running.vault, log);
  const code = await stop;
  work.stop();
  await drain(server, inflight, running);
  log({ level: 'info', event: 'stopped' });
  return code;
}

type Server = ReturnType<typeof Bun.serve>;

interface Running {
  readonly settings: Settings;
  readonly vault: Vault;
  readonly applied: number;
  close(): Promise<void>;
}

function listen({ config }: Settings, inflight: Inflight, ready: Promise<Vault>, log: Log): Server {
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

/** Opens what the vault stands on. */
async function start(settings: Settings, port: number, log: Log): Promise<Running> {
  const vars = { ...settings.vars, PORT: String(port) };
  const config = checkSettings({ vars, sources: settings.sources });
  const { databaseUrl: url, databaseAuthToken: authToken, databaseMaxConnections: maxConnections } = config;
  const mail = await openMailer(config);
  const database = await openDatabase({ url, maxConnections, ...(authToken === undefined ? {} : { authToken }) });
  const applied = await migrate(database, systemClock);
  const vault = createVault({ vars, database, mail, log });
  return {
    settings: { ...settings, vars, config },
    vault,
    applied: applied.length,
    async close() {
      await vault.close();
      await mail?.close();
      database.close();
    },
  };
}

/** Loaded only where mail goes out by SMTP, as it is half of the program's start. */
async function openMailer({ emailProvider, smtpUrl }: Settings['config']): Promise<SmtpMailer | undefined> {
  if (emailProvider !== 'smtp' || smtpUrl === undefined) return undefined;
  const { smtpMailer } = await import('./smtp.ts');
  try {
    return smtpMailer(smtpUrl);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'SMTP_URL cannot be used');
  }
}

/** Turns of background work, never two at once; one that fails is logged and the next one tries again. */
function startWork(vault: Vault, log: Log): { stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const turn = async () => {
    try {
      await vault.work(systemClock.now() + WORK_TURN_MS);
    } catch (error) {
      log({ level: 'error', event: 'work_failed', ...describeError(error) });
    }
    if (!stopped) timer = setTimeout(turn, WORK_INTERVAL_MS);
  };
  timer = setTimeout(turn, WORK_INTERVAL_MS);
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Resolves with the exit code at the first SIGTERM or SIGINT, or at a failure nothing caught; a second signal ends the process at once. */
function untilStopped(log: Log): Promise<number> {
  return new Promise((resolve) => {
    let stopping = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (stopping) process.exit(1);
      stopping = true;
      log({ level: 'info', event: 'stopping', signal });
      resolve(0);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
    // A promise nobody awaited leaves the rest whole; an exception may not, and a supervisor starts the vault again.
    process.on('unhandledRejection', (error) =>
      log({ level: 'error', event: 'unhandled_rejection', ...describeError(error) }),
    );
    process.on('uncaughtException', (error) => {
      log({ level: 'error', event: 'uncaught_exception', ...describeError(error) });
      resolve(1);
    });
  });
}

/** Takes nothing new, answers what was taken, and closes. */
async function drain(server: Server, inflight: Inflight, running: Running): Promise<void> {
  // Resolves when the last connection has ended; a stream never ends by itself.
  const ended = server.stop();
  await inflight.settle(STOP_ANSWER_MS, () => failure(503, 'shutting_down'));
  await Promise.race([ended, Bun.sleep(STOP_FLUSH_MS)]);
  server.stop(true);
  await Promise.race([running.close(), Bun.sleep(STOP_CLOSE_MS)]);
}

function failure(status: number, error: string): Response {
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
    return `port ${port} on ${host} is in use: stop what listens there, or choose another with --port (0 picks a free one)`;
  if (code === 'EACCES') return `port ${port} needs privileges this user lacks: choose one above 1023 with --port`;
  return `cannot listen on ${host} port ${port}: ${error instanceof Error ? error.message : error}`;
}
