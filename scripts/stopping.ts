import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isAlive } from './alive.ts';

/** Not SIGHUP: nohup has it ignored, and a handler would undo that. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const POLL_MS = 200;

/**
 * Aborted by the first signal that asks this process to end, and when npm, or the shell in which npm runs it, has
 * ended.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => controller.abort());
  // npm passes signals to its shell alone. A shell that waits for its last command dies of them and passes none on, and
  // a killed npm passes none to its shell: that a parent has ended is then the only sign.
  const starters = findStarters();
  const timer = setInterval(() => {
    if (areThere(starters)) return;
    clearInterval(timer);
    controller.abort();
  }, POLL_MS);
  timer.unref();
  return controller.signal;
}

/**
 * The parent and, while that is a shell with npm's script as its command, the shell's own parent: up to npm, and no
 * further, since npm may outlive the terminal. Windows says only the parent.
 */
function findStarters(): number[] {
  const script = process.env['npm_lifecycle_script'];
  const found = [process.ppid];
  for (let pid: number | undefined = process.ppid; script && commandOf(pid).includes(script); ) {
    pid = parentOf(pid);
    if (pid === undefined) break;
    found.push(pid);
  }
  return found;
}

/** An orphan gets another parent; on Windows it keeps the number of the one that ended. */
function areThere(starters: readonly number[]): boolean {
  return starters.every((pid, i) => {
    const child = starters[i - 1];
    return (child === undefined ? process.ppid : parentOf(child)) === pid && isAlive(pid);
  });
}

/** Undefined where neither /proc nor ps knows it. */
function parentOf(pid: number): number | undefined {
  // After the command's name, which may hold anything, come the state and the parent.
  const stat = readProcess(pid, 'stat')?.replace(/^.*\) \S+ /s, '');
  return Number.parseInt(stat ?? ps(pid, 'ppid='), 10) || undefined;
}

function commandOf(pid: number): string {
  return readProcess(pid, 'cmdline')?.replaceAll('\0', ' ') ?? ps(pid, 'args=');
}

function readProcess(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

function ps(pid: number, column: string): string {
  return spawnSync('ps', ['-o', column, '-p', `${pid}`], { encoding: 'utf8' }).stdout ?? '';
}
