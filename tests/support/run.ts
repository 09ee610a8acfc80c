import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

/** How a program ended and what it said. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `vault` (from the source, or `binary`) to its end with nothing in its environment but `vars`. */
export async function runProgram(
  args: readonly string[],
  { cwd, vars = {}, binary }: { cwd: string; vars?: Readonly<Record<string, string>>; binary?: string },
): Promise<Ended> {
  const command = binary ? [binary] : [process.execPath, join(ROOT, 'server.ts')];
  const child = Bun.spawn([...command, ...args], {
    cwd,
    env: { ...vars },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}
