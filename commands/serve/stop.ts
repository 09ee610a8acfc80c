import { readFileSync } from 'node:fs';
import { systemClock } from '../../lib/base/clock.ts';
import { describeError, type Log } from '../../lib/base/log.ts';
import type { Inflight } from './inflight.ts';
import type { Server } from './listen.ts';

/**
 * A stop signal is followed to its end within the sum of the four, under the five seconds that were promised. Closing
 * has `STOP_CLOSE_MS` at least, and all that was not needed before.
 */
export const STOP_LAST_MS = 300;
export const STOP_ANSWER_MS = 3_600;
export const STOP_FLUSH_MS = 250;
export const STOP_CLOSE_MS = 500;

/**
 * Resolves with the exit code at SIGTERM, SIGINT, SIGHUP or an uncaught failure. A second SIGTERM or SIGINT ends the
 * process at once.
 */
export function untilStopped(log: Log): Promise<number> {
  return new Promise((resolve) => {
    let stopping = false;
    const onSignal = (signal: NodeJS.Signals) => {
      // A terminal that closes sends SIGHUP twice, by its shell and by the system, and systemd's SendSIGHUP= sends it
      // behind SIGTERM: nobody's haste.
      if (stopping && signal === 'SIGHUP') return;
      if (stopping) process.exit(1);
      stopping = true;
      log({ level: 'info', event: 'stopping', signal });
      resolve(0);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
    if (!ignoresHangup()) process.on('SIGHUP', onSignal);
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

/** Whether SIGHUP was ignored from the start: nohup does that, and a handler would undo it. */
function ignoresHangup(): boolean {
  try {
    const ignored = /^SigIgn:\s*[0-9a-f]*([0-9a-f])$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return (Number.parseInt(ignored ?? '0', 16) & 1) === 1;
  } catch {
    return false;
  }
}

/** The servers to stop, and the answer to a request that is not answered in time. */
interface Serving {
  readonly servers: readonly Server[];
  readonly inflight: Inflight;
  readonly late: (request: Request) => Response;
}

/**
 * Answers what comes for a moment more, each answer the last of its connection: clients are just sending on those that
 * are idle. Then accepts nothing new, answers the open requests, and closes.
 */
export async function drain(serving: Serving, close: () => Promise<void>): Promise<void> {
  const start = systemClock.monotonic();
  serving.inflight.endConnections();
  await Bun.sleep(STOP_LAST_MS);
  await end(serving, STOP_ANSWER_MS);
  const left = STOP_LAST_MS + STOP_ANSWER_MS + STOP_FLUSH_MS + STOP_CLOSE_MS - (systemClock.monotonic() - start);
  await Promise.race([close(), Bun.sleep(Math.max(STOP_CLOSE_MS, left))]);
}

/** Answers `late` to all that wait for a vault that does not come up, and accepts nothing more. */
export async function refuse(serving: Serving): Promise<void> {
  serving.inflight.endConnections();
  await end(serving, 0);
}

async function end({ servers, inflight, late }: Serving, answerMs: number): Promise<void> {
  // Resolves when the last connection has ended; a stream never ends by itself.
  const ended = Promise.all(servers.map((server) => server.stop()));
  await inflight.settle(answerMs, late);
  await Promise.race([ended, Bun.sleep(STOP_FLUSH_MS)]);
  for (const server of servers) server.stop(true);
}
