import { SLOW_FIRST } from './slow.ts';

/** A crash costs all of a process once more. */
const FILES_MAX = 16;
/** Two files cost little more than one: loading and compiling take most of the time of most files. */
const FILES_MIN = 2;
/**
 * The share of the remaining files for each job: the last processes are small, so that no core is idle at the end of a
 * run.
 */
const SHARES_OF_REST = 2;

/**
 * The tests that share no process with other files, and why. A new entry is an exception: nothing of the vault is
 * global, so a file which needs one mostly leaves something behind.
 */
export const ALONE: Readonly<Record<string, string>> = {
  'tests/races/': 'each waits for the programs that it kills for longer than it computes',
  'tests/runtimes/': 'each builds and starts other runtimes',
  'tests/torture/': 'each waits for the vaults that it tortures',
};

/**
 * The files of each process, in the order in which they come. A new process costs half a second of processor time
 * before its first test, so the first ones take many files. What runs alone mostly waits: beside each goes a process
 * that computes, or all jobs would wait at the begin.
 */
export function groupsOf(files: readonly string[], jobs: number): readonly (readonly string[])[] {
  const alone = files.filter(isAlone).map((file) => [file]);
  const shared: (readonly string[])[] = [];
  for (let rest = files.filter((file) => !isAlone(file)); rest.length > 0; ) {
    const share = Math.ceil(rest.length / (jobs * SHARES_OF_REST));
    const size = Math.min(FILES_MAX, Math.max(FILES_MIN, share));
    shared.push(rest.slice(0, size));
    rest = rest.slice(size);
  }
  const turns = Array.from({ length: Math.max(alone.length, shared.length) }, (_, at) => [alone[at], shared[at]]);
  return turns.flat().filter((group) => group !== undefined);
}

function isAlone(file: string): boolean {
  return SLOW_FIRST.includes(file) || Object.keys(ALONE).some((path) => file.startsWith(path));
}
