import { join } from 'node:path';
import { runToEnd } from '../../support/output.ts';

/** Runs `npm run simulate` in a process of its own: it takes the place of time and of chance. */
export async function runSimulate(...flags: readonly string[]): Promise<{ code: number; out: string }> {
  const { code, out, err } = await runToEnd([process.execPath, join(import.meta.dir, 'run.ts'), ...flags]);
  return { code, out: `${out}${err}` };
}
