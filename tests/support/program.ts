import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

/** A vault in a process of its own. */
export interface Program {
  readonly url: string;
  readonly pid: number;
  /** Everything it printed so far, both streams. */
  output(): string;
  /** Ends it with the signal and resolves with its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>;
}

/** Starts `vault serve` in `cwd` (from the source, or `binary`) and waits until it listens. Nothing but `vars` is in its environment. */
export async function startProgram(
  vars: Readonly<Record<string, string>>,
  { cwd, binary, args = [] }: { cwd: string; binary?: string; args?: readonly string[] },
): Promise<Program> {
  const command = binary ? [binary] : [process.execPath, join(ROOT, 'server.ts')];
  const child = Bun.spawn([...command, 'serve', ...args], {
    cwd,
    env: { PORT: '0', LOG_FORMAT: 'json', ...vars },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let output = '';
  const listening = Promise.withResolvers<string>();
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      output += decoder.decode(chunk, { stream: true });
      const url = /http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+/.exec(
        /"?listening"?[\s\S]*/.exec(output)?.[0] ?? '',
      )?.[0];
      if (url) listening.resolve(url.replace('localhost', '127.0.0.1'));
    }
  };
  collect(child.stdout);
  collect(child.stderr);
  child.exited.then((code) => listening.reject(new Error(`the program ended with ${code}:\n${output}`)));
  const timer = setTimeout(() => listening.reject(new Error(`the program does not listen:\n${output}`)), 15_000);
  const url = await listening.promise.finally(() => clearTimeout(timer));
  return {
    url,
    pid: child.pid,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return child.exited;
    },
  };
}
