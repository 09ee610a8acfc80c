import { readFileSync } from 'node:fs';

/** The first processor this process may use. Servers under test run there, and nothing else. */
const cores = coresOf(/Cpus_allowed_list:\s+(\S+)/.exec(textOf('/proc/self/status'))?.[1] ?? '');
const [serverCore, ...loadCores] = cores;
const taskset = Bun.which('taskset');
const isPinned = taskset !== null && loadCores.length > 0;

/** Where the parts run, for the report. */
export const PLACEMENT = isPinned
  ? `server on core ${serverCore}, load on core ${loadCores.join(', ')}`
  : 'server and load share the cores: taskset or a second core is missing';

/** The command, kept on the server's core. The process keeps its id. */
export function onServerCore(command: readonly string[]): string[] {
  return isPinned ? [taskset, '-c', `${serverCore}`, ...command] : [...command];
}

/** Where a program runs that is kept from no core, for the report. */
export const ALL_CORES = `server and load on all ${cores.length} cores`;

/** The command on every core that this process had at its start. */
export function onAllCores(command: readonly string[]): string[] {
  return isPinned ? [taskset, '-c', cores.join(','), ...command] : [...command];
}

/** The command, kept away from the server's core: what the server asks, such as a database server or a node. */
export function besideServer(command: readonly string[]): string[] {
  return isPinned ? [taskset, '-c', loadCores.join(','), ...command] : [...command];
}

/** Keeps this process, which makes the load, away from the server's core. */
export function leaveServerCore(): void {
  if (isPinned) Bun.spawnSync([taskset, '-a', '-c', '-p', loadCores.join(','), `${process.pid}`]);
}

/** `0-2,5` as numbers. */
function coresOf(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 || 0 }, (_, i) => first + i);
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
