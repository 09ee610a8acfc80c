import { dirname } from 'node:path';

/** More files in one process would leave cores idle at the end of a run, and a crash would cost more. */
const FILES_MAX = 8;

/**
 * What does not share a process with other files, and why. A new entry is an exception: nothing of the vault is global,
 * so that a file which needs one mostly leaves something behind.
 */
export const ALONE: Readonly<Record<string, string>> = {
  'tests/journeys/': 'each waits for its browser and its chain for longer than it computes: they wait side by side',
  'tests/races/': 'each waits for the programs that it kills for longer than it computes',
  'tests/runtimes/': 'each builds and starts other runtimes',
};

/** The files of each process: those of a folder, a few at a time, in the order in which they come. */
export function groupsOf(files: readonly string[]): readonly (readonly string[])[] {
  const groups: string[][] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    const folder = dirname(file);
    const group = open.get(folder);
    if (isAlone(file)) groups.push([file]);
    else if (group !== undefined && group.length < FILES_MAX) group.push(file);
    else {
      const next = [file];
      open.set(folder, next);
      groups.push(next);
    }
  }
  return groups;
}

function isAlone(file: string): boolean {
  return Object.keys(ALONE).some((path) => file.startsWith(path));
}
