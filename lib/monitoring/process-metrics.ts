import { METRICS, type MetricName } from '../base/metric-catalogue.ts';
import type { Family } from '../base/metrics.ts';

/** The host's process, for the metrics that Prometheus' own clients export (`process_…`). */
export interface ProcessState {
  /** User and system time. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** Since the Unix epoch. */
  readonly startTimeSeconds: number;
  readonly openFds?: number | undefined;
  readonly maxFds?: number | undefined;
}

/** The metric families of a process; those without a value have no sample. */
export function processFamilies(state: ProcessState): readonly Family[] {
  const { cpuSeconds, residentBytes, startTimeSeconds, openFds, maxFds } = state;
  return [
    family('process_cpu_seconds_total', cpuSeconds),
    family('process_resident_memory_bytes', residentBytes),
    family('process_start_time_seconds', startTimeSeconds),
    family('process_open_fds', openFds),
    family('process_max_fds', maxFds),
  ];
}

function family(name: MetricName, value: number | undefined): Family {
  const { help, type } = METRICS[name];
  return { name, help, type, samples: value === undefined ? [] : [{ labels: {}, value }] };
}
