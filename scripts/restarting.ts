import { type FSWatcher, watch } from 'node:fs';
import { hasEnded } from './dev-stack/service.ts';

/** A program that runs until it ends or is stopped. */
export interface Running {
  /** Resolves with its exit code. */
  readonly ended: Promise<number>;
  /** Ends the program for good. */
  stop(): void;
}

/** The program to start, and the files that it is made of. */
export interface RestartingOptions {
  readonly start: () => Bun.Subprocess;
  /** Folders below `root` that are watched with all they hold, and files in `root`. */
  readonly root: string;
  readonly sources: readonly string[];
  readonly say: (text: string) => void;
}

/** An editor writes a file in several steps, and some commands write several files. */
const SETTLE_MS = 50;
const STOP_TIMEOUT_MS = 3_000;
const SOURCE = /\.(?:ts|json|html|css|svg|png|wasm)$/;

/**
 * Starts the program, and again at each change of its sources. One that ends by itself, as after a mistake in a source,
 * starts again at the next change.
 */
export function startRestarting({ start, root, sources, say }: RestartingOptions): Running {
  let child = run();
  let isStopped = false;
  let changed: string | undefined;
  const ended = Promise.withResolvers<number>();
  const timer = setInterval(restart, SETTLE_MS);
  const watchers = watchSources(root, sources, (file) => {
    changed = file;
  });

  function run(): Bun.Subprocess {
    const own = start();
    own.exited.then((code) => {
      if (own === child && !isStopped && changed === undefined)
        say(`The vault ended with ${code}. It starts again at the next save.`);
    });
    return own;
  }

  let isRestarting = false;
  async function restart(): Promise<void> {
    if (changed === undefined || isRestarting || isStopped) return;
    isRestarting = true;
    say(`↻ ${changed} changed: the vault starts again`);
    await end(child);
    changed = undefined;
    if (!isStopped) child = run();
    isRestarting = false;
  }

  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    clearInterval(timer);
    for (const watcher of watchers) watcher.close();
    await end(child);
    ended.resolve(0);
  }
  return { ended: ended.promise, stop };
}

function watchSources(root: string, sources: readonly string[], onChange: (file: string) => void): FSWatcher[] {
  const folders = sources.filter((source) => !SOURCE.test(source));
  const files = sources.filter((source) => SOURCE.test(source));
  return [
    ...folders.map((folder) =>
      watch(`${root}/${folder}`, { recursive: true }, (_, name) => {
        if (name !== null && SOURCE.test(name)) onChange(`${folder}/${name}`);
      }),
    ),
    // Many editors put a new file in the place of the old one: the folder is watched, since a watched file would be
    // gone.
    watch(root, (_, name) => {
      if (name !== null && files.includes(name)) onChange(name);
    }),
  ];
}

async function end(child: Bun.Subprocess): Promise<void> {
  if (!hasEnded(child)) child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await child.exited;
  clearTimeout(timer);
}
