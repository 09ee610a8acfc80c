import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Part } from './parts.ts';

/** A run over the parts. */
export interface Run {
  readonly parts: readonly Part[];
  /** Where the scripts are. */
  readonly root: string;
  /** The file that keeps which parts a run with `--save` has measured, until all are. */
  readonly state: string;
  /** The command line: `--save`, `--only NAME`, `--restart`; other words go to the parts. */
  readonly words: readonly string[];
  readonly say: (line: string) => void;
}

/**
 * Measures the parts one after the other, each in a process of its own. A run that was interrupted goes on with the
 * parts that are missing. Returns the names of those that failed.
 */
export async function measureAll({ parts, root, state, words, say }: Run): Promise<string[]> {
  const only = words.includes('--only') ? words[words.indexOf('--only') + 1] : undefined;
  const passed = words.filter((word, i) => !['--restart', '--only'].includes(word) && words[i - 1] !== '--only');
  const chosen = parts.filter(({ name }) => only === undefined || name === only);
  if (chosen.length === 0) throw new Error(`no part ${only}: there are ${parts.map(({ name }) => name).join(', ')}`);
  const isSaved = words.includes('--save');
  if (words.includes('--restart')) rmSync(state, { force: true });
  const done: Record<string, string> = isSaved && existsSync(state) ? await Bun.file(state).json() : {};
  const failed: string[] = [];
  for (const [i, { name, script, minutes, args = [] }] of chosen.entries()) {
    const head = `[${i + 1}/${chosen.length}] ${name}`;
    if (done[name] !== undefined) {
      say(`${head}: measured ${done[name]}; --restart measures it again`);
      continue;
    }
    say(`${head}: about ${minutes} min, from ${new Date().toISOString().slice(11, 19)}`);
    // What earlier parts wrote reaches the disk first, so that nobody pays for another's writes.
    await run(root, ['sync']);
    if (!(await run(root, [process.execPath, script, ...args, ...passed]))) failed.push(name);
    else if (isSaved) {
      done[name] = new Date().toISOString();
      mkdirSync(dirname(state), { recursive: true });
      await Bun.write(state, JSON.stringify(done));
    }
  }
  if (failed.length === 0 && only === undefined) rmSync(state, { force: true });
  return failed;
}

async function run(cwd: string, command: string[]): Promise<boolean> {
  const child = Bun.spawn(command, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  return (await child.exited) === 0;
}
