import { readdirSync, readFileSync } from 'node:fs';
import { until } from './until.ts';

interface Process {
  readonly pid: number;
  readonly parent: number;
}

/** Which run now of the processes given and all that they started. A zombie does not run. */
export function growTree(pids: readonly number[]): number[] {
  const running = process.platform === 'linux' ? fromProc() : fromPs();
  const found = new Set(pids);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const { pid, parent } of running) if (found.has(parent)) found.add(pid);
  }
  return running.map(({ pid }) => pid).filter((pid) => found.has(pid));
}

/** Kills the processes given and all that they started. One that ended in the meantime is gone as well. */
export function killTree(pids: readonly number[]): void {
  for (const pid of growTree(pids)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Resolves when none of the processes given runs any more, nor any that they started since. */
export async function treeEnded(pids: readonly number[]): Promise<void> {
  let known = pids;
  await until('all that was started has ended', () => {
    const left = growTree(known);
    known = [...new Set([...known, ...left])];
    return left.length === 0;
  });
}

/** Without `ps`, which a small image lacks. */
function fromProc(): Process[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const [state, parent] = statOf(pid);
    return state === undefined || state === 'Z' ? [] : [{ pid: Number(pid), parent: Number(parent) }];
  });
}

function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}

function fromPs(): Process[] {
  const { stdout } = Bun.spawnSync(['ps', '-axo', 'pid=,ppid=,stat=']);
  const rows = stdout.toString().trim().split('\n');
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , state]) => !state?.startsWith('Z'))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}
