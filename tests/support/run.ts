import { join } from 'node:path';
import { buildBinary } from './binary.ts';
import { type Ended, runToEnd } from './output.ts';

const ROOT = join(import.meta.dir, '../..');

/** The sources as a command. */
export const SOURCES: readonly string[] = [process.execPath, join(ROOT, 'server.ts')];

/**
 * `vault` as a command: in a run of tests the built program, which starts with a quarter of the processor time of the
 * sources. Waited for here, since no limit of a test counts what loads.
 */
export const VAULT: readonly string[] =
  process.env['TEST_RUN_DIR'] === undefined ? SOURCES : [(await buildBinary()).path];

/** Runs `vault` (or `binary`) to its end with nothing in its environment but `vars`. */
export function runProgram(
  args: readonly string[],
  { cwd, vars = {}, binary }: { cwd: string; vars?: Readonly<Record<string, string>>; binary?: string },
): Promise<Ended> {
  return runToEnd([...(binary ? [binary] : VAULT), ...args], { cwd, env: vars });
}
