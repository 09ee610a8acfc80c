import { statSync } from 'node:fs';
import { type Clock, MINUTE_MS } from '../../lib/base/clock.ts';
import { describeError, type Log } from '../../lib/base/log.ts';
import type { Database } from '../../lib/db/database.ts';
import type { DatabaseLog } from '../../lib/monitoring/process-metrics.ts';
import type { OpenFile } from './connection.ts';

/** From when on the write-ahead log is too long, and its last complete checkpoint too long ago. */
export const LOG_BYTES_MAX = 64 * 1024 * 1024;
export const CHECKPOINT_AGE_MS_MAX = 5 * MINUTE_MS;

interface Parts {
  readonly file: Pick<OpenFile, 'path' | 'tuning'>;
  readonly execute: Database['execute'];
  readonly clock: Clock;
  readonly log: Log;
}

/** Brings the log into the file each minute, and knows how that goes. */
export interface LogWatch {
  /** How the log is now; its checkpoints are known only where the vault does them. */
  read(): DatabaseLog;
  stop(): void;
}

/**
 * Checkpoints each minute, unless another program does: those of commits come after 1,000 pages only, and SQLite says
 * nothing when they fail. The log says once that one is late or the log long, and why, and once that this is over.
 */
export function watchLog({ file, execute, clock, log }: Parts): LogWatch {
  const isOurs = file.tuning.checkpoint !== 'external';
  let completeAt = clock.monotonic();
  let cause: string | undefined;
  let isReported = false;
  let isStopped = false;
  let cancel = clock.after(MINUTE_MS, turn);

  function read(): DatabaseLog {
    const bytes = statSync(`${file.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    return { bytes, ...(isOurs && { checkpointAgeSeconds: (clock.monotonic() - completeAt) / 1000 }) };
  }

  async function checkpoint(): Promise<void> {
    const { rows } = await execute({ sql: 'PRAGMA wal_checkpoint(PASSIVE)', args: {} });
    const [row] = rows;
    if (row?.['log'] === row?.['checkpointed']) completeAt = clock.monotonic();
    cause = 'a read that began before keeps a part of it out of the file';
  }

  function report(): void {
    const { bytes, checkpointAgeSeconds = 0 } = read();
    const isBad = bytes > LOG_BYTES_MAX || checkpointAgeSeconds * 1000 > CHECKPOINT_AGE_MS_MAX;
    if (isBad === isReported) return;
    isReported = isBad;
    const facts = { bytes, ...(isOurs && { checkpointAgeSeconds: Math.round(checkpointAgeSeconds) }) };
    if (isBad) log({ level: 'warn', event: 'database_log_late', ...facts, ...(cause && { cause }) });
    else log({ level: 'info', event: 'database_log_recovered', ...facts });
  }

  async function turn(): Promise<void> {
    if (isOurs) {
      await checkpoint().catch((error) => {
        cause = describeError(error).message;
      });
    }
    if (isStopped) return;
    report();
    cancel = clock.after(MINUTE_MS, turn);
  }

  return {
    read,
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
