import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Subprocess } from 'bun';
import { freePort } from './port.ts';

/** A program of somebody else's, running on loopback in a process of its own. */
export interface Service {
  readonly port: number;
  readonly pid: number;
  /** Ends it, gently at first. */
  stop(): Promise<void>;
}

/** How to start one, and how to see that it serves. */
export interface ServiceOptions {
  readonly name: string;
  readonly command: (port: number) => readonly string[];
  readonly isUp: (port: number) => Promise<boolean>;
  /** A free one when absent; a wanted one that is taken is refused. */
  readonly port?: number | undefined;
  /** Empty if absent, so that no variable of this shell leads it elsewhere. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The file of its output, which is dropped if absent. */
  readonly logFile?: string | undefined;
  /** How long it may take to end after SIGTERM. */
  readonly stopTimeoutMs?: number;
}

const STARTS_MAX = 3;
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 2_000;
const POLL_MS = 5;
/** An answer that takes longer counts as lost: another program may have taken the port, and never answer. */
const ANSWER_MS = 5_000;
/** Within it a program mostly ends that did not get its port, where the system does not say who has it. */
const REFUSED_WITHIN_MS = 250;

/** Starts it and waits until it serves; another port is tried when a process took the free one first. */
export async function startService(options: ServiceOptions): Promise<Service> {
  for (let start = 1; start <= STARTS_MAX; start++) {
    const port = freePort(options.port);
    const log = options.logFile === undefined ? 'ignore' : Bun.file(options.logFile);
    const child = Bun.spawn([...options.command(port)], {
      env: { ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      stdin: 'pipe',
      stdout: log,
      stderr: log,
    });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    const stop = () => end(child, options.stopTimeoutMs).finally(() => process.off('exit', kill));
    const hasPort = options.port ? () => listensAt(child.pid, port) : () => true;
    if (await isUp(child, () => options.isUp(port), hasPort)) return { port, pid: child.pid, stop };
    await stop();
  }
  throw new Error(`${options.name} did not start in ${STARTS_MAX} tries`);
}

/**
 * False when it ended, as it does when another process took the port first, or took too long. A port that two starts
 * want at one moment may be answered by the other's program before this one has ended.
 */
async function isUp(
  child: Subprocess,
  ask: () => Promise<boolean>,
  hasPort: () => boolean | undefined,
): Promise<boolean> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!hasEnded(child) && performance.now() < deadline) {
    const none = Promise.race([child.exited, Bun.sleep(ANSWER_MS)]).then(() => false);
    if (await Promise.race([ask().catch(() => false), none])) {
      const has = hasPort();
      if (has === undefined) await Promise.race([child.exited, Bun.sleep(REFUSED_WITHIN_MS)]);
      if (has !== false) return !hasEnded(child);
    }
    await Bun.sleep(POLL_MS);
  }
  return false;
}

/** Whether a process of this user listens at a port of IPv4; undefined where the system has no `/proc`. */
function listensAt(pid: number, port: number): boolean | undefined {
  try {
    const at = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n');
    // Number, local address, remote address, state (0A listens), …, and as the tenth the socket's inode (proc(5)).
    const fields = rows.map((row) => row.trim().split(/\s+/)).filter((row) => row[1]?.endsWith(at) && row[3] === '0A');
    const sockets = fields.map((row) => `socket:[${row[9]}]`);
    return readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.includes(linkOf(`/proc/${pid}/fd/${fd}`)));
  } catch {
    return undefined;
  }
}

/** Where a link leads; nowhere once it is gone. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** By itself, or by a signal: that leaves no exit code. */
export function hasEnded({ exitCode, signalCode }: Subprocess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function end(child: Subprocess, timeoutMs = STOP_TIMEOUT_MS): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  await child.exited;
  clearTimeout(timer);
}
