import { METRICS, type MetricName } from '../base/metric-catalogue.ts';
import type { Family } from '../base/metrics.ts';

/** The write-ahead log of an embedded database. */
export interface DatabaseLog {
  readonly bytes: number;
  /** Since all of it was in the file last; absent where another program brings it there. */
  readonly checkpointAgeSeconds?: number | undefined;
}

/** The host's process, for the metrics that Prometheus' own clients export (`process_…`), and its database's log. */
export interface ProcessState {
  /** User and system time. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** Since the Unix epoch. */
  readonly startTimeSeconds: number;
  readonly openFds?: number | undefined;
  readonly maxFds?: number | undefined;
  readonly databaseLog?: DatabaseLog | undefined;
}

/** The metric families of a process; those without a value have no sample. */
export function processFamilies(state: ProcessState): readonly Family[] {
  const { cpuSeconds, residentBytes, startTimeSeconds, openFds, maxFds, databaseLog } = state;
  return [
    family('process_cpu_seconds_total', cpuSeconds),
    family('process_resident_memory_bytes', residentBytes),
    family('process_start_time_seconds', startTimeSeconds),
    family('process_open_fds', openFds),
    family('process_max_fds', maxFds),
    family('vault_db_log_bytes', databaseLog?.bytes),
    family('vault_db_checkpoint_age_seconds', databaseLog?.checkpointAgeSeconds),
  ];
}

function family(name: MetricName, value: number | undefined): Family {
  const { help, type } = METRICS[name];
  return { name, help, type, samples: value === undefined ? [] : [{ labels: {}, value }] };
}
