import { readdirSync, readFileSync } from 'node:fs';
import type { DatabaseLog, ProcessState } from '../../lib/monitoring/process-metrics.ts';

/** Reads this process's use of resources; without `/proc` it leaves out what only `/proc` has. */
export function createProcessReader(readLog: () => DatabaseLog | undefined): () => ProcessState {
  const startTimeSeconds = Date.now() / 1000 - process.uptime();
  const maxFds = readMaxFds();
  return () => {
    const { user, system } = process.cpuUsage();
    return {
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
      startTimeSeconds,
      openFds: ifThere(() => readdirSync('/proc/self/fd').length),
      maxFds,
      databaseLog: readLog(),
    };
  };
}

/** The soft limit, which is the one that bites. */
function readMaxFds(): number | undefined {
  const limits = ifThere(() => readFileSync('/proc/self/limits', 'utf8'));
  const soft = /^Max open files\s+(\d+)/m.exec(limits ?? '')?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
