// What `npm start` runs, in a folder and at ports of a test's own.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '../../scripts/start.ts';
import { temporaryFolder } from './databases.ts';
import { until } from './until.ts';

const ROOT = join(import.meta.dir, '../..');

/** A script of the package that has ended. */
export interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** A running `npm start`. */
export interface DevWorld {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stack: Stack;
  /** Runs a file of `scripts/` beside it, to its end. */
  run(script: string, ...given: string[]): Promise<Ended>;
  /** Ends it, as Ctrl+C does. */
  end(): Promise<Omit<Ended, 'errors'>>;
  /** Ends it, and removes its folder. */
  stop(): Promise<void>;
}

/** The program is built and the dev stack started: on a busy machine minutes. */
export async function startDevWorld(): Promise<DevWorld> {
  const { path, remove } = temporaryFolder();
  const env = { PATH: process.env['PATH'] ?? '', HOME: path, WORLD_DIR: path, WORLD_PORTS: 'free' };
  const start = spawn('start.ts', [], env);
  const end = async () => {
    start.kill('SIGTERM');
    const code = await start.exited;
    return { code, output: await printed };
  };
  const printed = new Response(start.stdout).text();
  const stackFile = join(path, 'stack.json');
  await until('npm start is ready, or ends', () => existsSync(stackFile) || start.exitCode !== null);
  if (!existsSync(stackFile)) throw new Error(`npm start ended: ${await printed}`);
  return {
    path,
    env,
    stack: await Bun.file(stackFile).json(),
    run: (script, ...given) => runScript(script, given, env),
    end,
    async stop() {
      await end();
      remove();
    },
  };
}

/** Runs a file of `scripts/` to its end. */
export async function runScript(
  script: string,
  given: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const child = spawn(script, given, env);
  const texts = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
  const [code, output = '', errors = ''] = await Promise.all([child.exited, ...texts] as const);
  return { code, output, errors };
}

function spawn(script: string, given: readonly string[], env: Readonly<Record<string, string>>) {
  const command = [process.execPath, join(ROOT, 'scripts', script), ...given];
  return Bun.spawn(command, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
}
