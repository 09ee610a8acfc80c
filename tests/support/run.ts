import { join } from 'node:path';
import { buildBinary } from './binary.ts';

const ROOT = join(import.meta.dir, '../..');

/** The sources as a command. */
export const SOURCES: readonly string[] = [process.execPath, join(ROOT, 'server.ts')];

/**
 * `vault` as a command: in a run of tests the built program, which starts with a quarter of the processor time of the
 * sources. Waited for here, since no limit of a test counts what loads.
 */
export const VAULT: readonly string[] =
  process.env['TEST_RUN_DIR'] === undefined ? SOURCES : [(await buildBinary()).path];

/** How a program ended and what it said. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `vault` (or `binary`) to its end with nothing in its environment but `vars`. */
export async function runProgram(
  args: readonly string[],
  { cwd, vars = {}, binary }: { cwd: string; vars?: Readonly<Record<string, string>>; binary?: string },
): Promise<Ended> {
  const child = Bun.spawn([...(binary ? [binary] : VAULT), ...args], {
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
