// `npm start` in a folder and at ports of a test's own.
import { join } from 'node:path';
import type { Stack } from '../../scripts/start.ts';
import { buildBinary } from './binary.ts';
import { temporaryFolder } from './databases.ts';
import { growTree, killTree, treeEnded } from './tree.ts';
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
  /** The program that it runs. */
  readonly program: string;
  readonly stack: Stack;
  /** All that it has printed so far. */
  printed(): string;
  /** Runs a file of `scripts/` beside it, to its end. */
  run(script: string, ...given: string[]): Promise<Ended>;
  /** Sends SIGTERM to npm alone, and waits until nothing of it all runs any more. */
  end(): Promise<Omit<Ended, 'errors'>>;
  /** Ends it, and removes its folder. */
  stop(): Promise<void>;
}

/** Starts it around the program of this run, with more variables; on a busy machine minutes. */
export async function startDevWorld(more: Readonly<Record<string, string>> = {}): Promise<DevWorld> {
  const program = await buildBinary();
  const { path, remove } = temporaryFolder();
  const env = startEnv(path);
  const npm = spawnNpmStart({ ...env, WORLD_PROGRAM: program.path, ...more });
  let output = '';
  const reading = (async () => {
    for await (const chunk of npm.stdout.pipeThrough(new TextDecoderStream())) output += chunk;
  })();
  const end = async () => {
    const family = growTree([npm.pid]);
    npm.kill('SIGTERM');
    const code = await npm.exited;
    await treeEnded(family).finally(() => killTree(family));
    await reading;
    return { code, output };
  };
  const isReady = () => output.includes('npm run fund 0x');
  await until('npm start is ready, or ends', () => isReady() || npm.exitCode !== null);
  if (!isReady()) throw new Error(`npm start ended: ${output}`);
  return {
    path,
    program: program.path,
    stack: await Bun.file(join(path, 'stack.json')).json(),
    printed: () => output,
    run: (script, ...given) => runScript(script, given, env),
    end,
    async stop() {
      await end();
      program.remove();
      remove();
    },
  };
}

/** The variables of `npm start` in this folder, and of what runs beside it. */
export function startEnv(path: string): Readonly<Record<string, string>> {
  const npm = { npm_config_update_notifier: 'false' };
  return { PATH: process.env['PATH'] ?? '', HOME: path, WORLD_DIR: path, WORLD_PORTS: 'free', ...npm };
}

/** `npm start` with these variables alone. It installs nothing, as other tests run. */
export function spawnNpmStart(env: Readonly<Record<string, string>>, ...options: string[]) {
  const command = ['npm', 'start', '--ignore-scripts', ...options];
  return Bun.spawn(command, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Runs a file of `scripts/` to its end. */
export async function runScript(
  script: string,
  given: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const command = [process.execPath, join(ROOT, 'scripts', script), ...given];
  const child = Bun.spawn(command, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
  const [code, output = '', errors = ''] = await Promise.all([child.exited, ...texts] as const);
  return { code, output, errors };
}
