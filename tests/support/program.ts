import { SOURCES, VAULT } from './run.ts';

const START_TIMEOUT_MS = 120_000;
const COLLECT_MS = 5_000;
/** Ends a program that Bun runs with its starter: a test that timed out, or a runner that was killed, stops nothing. */
const NO_ORPHANS = { BUN_FEATURE_FLAG_NO_ORPHANS: '1' };

/** Runs `vault serve`. */
export const SERVE: readonly string[] = [...VAULT, 'serve'];

/** A vault in a process of its own. */
export interface Program {
  readonly url: string;
  readonly pid: number;
  /** Resolves with its exit code, once all that it printed is in `output`. */
  readonly exited: Promise<number>;
  /** The whole lines that it printed so far, of both streams. */
  output(): string;
  /** Ends it with the signal and resolves with its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>;
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Running {
  readonly cwd: string;
  readonly binary?: string;
  readonly args?: readonly string[];
  readonly preload?: string;
  readonly fromSources?: boolean;
}

/**
 * Starts `vault serve` (or that of `binary`) in `cwd` and waits until it listens. No setting but `vars` is in its
 * environment, and no registry unless they name one: the default chain cannot be asked from a test. `preload` is a
 * script that runs before it; one that takes the place of a module needs the program `fromSources`.
 */
export function startProgram(
  vars: Readonly<Record<string, string>>,
  { cwd, binary, args = [], preload, fromSources = false }: Running,
): Promise<Program> {
  const command = binary ? [binary] : fromSources ? SOURCES : VAULT;
  const options = preload === undefined ? {} : { BUN_OPTIONS: `--preload=${preload}` };
  return startListening([...command, 'serve', ...args], {
    cwd,
    env: { PORT: '0', LOG_FORMAT: 'json', DID_REGISTRY_ADDRESS: 'none', ...options, ...vars },
  });
}

/** Starts a program that prints "listening" and where. */
export async function startListening(command: readonly string[], { cwd, env }: Place): Promise<Program> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...NO_ORPHANS, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let output = '';
  let isListening = false;
  const listening = Promise.withResolvers<string>();
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    // Of two streams that are read at once, and of a line that is read in two parts, nobody sees half a line.
    let rest = '';
    for await (const chunk of stream) {
      const text = rest + decoder.decode(chunk, { stream: true });
      const end = text.lastIndexOf('\n') + 1;
      output += text.slice(0, end);
      rest = text.slice(end);
      if (isListening || end === 0) continue;
      const url = urlIn(output);
      isListening = url !== undefined;
      if (url) listening.resolve(url);
    }
    output += rest;
  };
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)]);
  const exited = child.exited.then(async (code) => {
    // A process that it left behind may hold the streams.
    await Promise.race([collected, Bun.sleep(COLLECT_MS)]);
    return code;
  });
  exited.then((code) => listening.reject(new Error(`the program ended with ${code}:\n${output}`)));
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
    listening.reject(new Error(`the program does not listen:\n${output}`));
  }, START_TIMEOUT_MS);
  const url = await listening.promise.finally(() => clearTimeout(timer));
  return {
    url,
    pid: child.pid,
    exited,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}

function urlIn(output: string): string | undefined {
  const said = /"?listening"?[\s\S]*/i.exec(output)?.[0] ?? '';
  return /http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+/.exec(said)?.[0].replace('localhost', '127.0.0.1');
}
