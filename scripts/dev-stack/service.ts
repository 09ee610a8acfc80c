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
/** Within it a program ends that did not get its port. */
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
    const settleMs = options.port ? REFUSED_WITHIN_MS : 0;
    if (await isUp(child, () => options.isUp(port), settleMs)) return { port, pid: child.pid, stop };
    await stop();
  }
  throw new Error(`${options.name} did not start in ${STARTS_MAX} tries`);
}

/**
 * False when it ended, as it does when another process took the port first, or took too long. A port that two starts
 * want at one moment may be answered by the other's program before this one has ended.
 */
async function isUp(child: Subprocess, ask: () => Promise<boolean>, settleMs: number): Promise<boolean> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!hasEnded(child) && performance.now() < deadline) {
    const none = Promise.race([child.exited, Bun.sleep(ANSWER_MS)]).then(() => false);
    if (await Promise.race([ask().catch(() => false), none])) {
      await Promise.race([child.exited, Bun.sleep(settleMs)]);
      return !hasEnded(child);
    }
    await Bun.sleep(POLL_MS);
  }
  return false;
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
