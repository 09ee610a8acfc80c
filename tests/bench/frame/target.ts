import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onServerCore } from './place.ts';

/** A program under load: a process of its own. */
export interface Target {
  readonly pid: number;
  readonly port: number;
  readonly process: Bun.Subprocess<'ignore', 'pipe', 'inherit'>;
  stop(): Promise<void>;
}

/** Settings and place of a program. */
export interface TargetOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What puts it on its core; by default the server's. */
  readonly place?: (command: readonly string[]) => string[];
}

/** Starts a program whose first line of output is its port. */
export async function startTarget(command: readonly string[], options: TargetOptions = {}): Promise<Target> {
  const { env = {}, cwd = process.cwd(), place = onServerCore } = options;
  const child = Bun.spawn(place(command), {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // A run that ends by an error leaves no server behind.
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  const { value } = await child.stdout.getReader().read();
  const port = Number.parseInt(new TextDecoder().decode(value), 10);
  if (!(port > 0)) throw new Error(`${command.join(' ')} named no port`);
  const stop = async () => {
    end();
    await child.exited;
    process.off('exit', end);
  };
  return { pid: child.pid, port, process: child, stop };
}

/** A mode of `tests/bench/server.ts`, such as `bare` or `vault`, with settings of the vault. */
export function startServer(
  mode: string,
  settings: Readonly<Record<string, string>> = {},
  options?: TargetOptions,
): Promise<Target> {
  const script = join(import.meta.dir, '../server.ts');
  return startTarget([process.execPath, script, mode, JSON.stringify(settings)], options);
}

/** A folder for the files of a run, below `BENCH_DIR` or the system's folder for temporary files. */
export function benchFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'vault-bench-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
