import type { Family } from '../base/metrics.ts';

/** What a host tells of its process, under the names that Prometheus' own clients use. */
export interface ProcessState {
  /** User and system time. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** Since the Unix epoch. */
  readonly startTimeSeconds: number;
  readonly openFds?: number | undefined;
  readonly maxFds?: number | undefined;
}

/** The process as families, read anew at each scrape. */
export function processFamilies(state: ProcessState): readonly Family[] {
  const { cpuSeconds, residentBytes, startTimeSeconds, openFds, maxFds } = state;
  return [
    family('process_cpu_seconds_total', 'counter', 'Processor time used, in seconds.', cpuSeconds),
    family('process_resident_memory_bytes', 'gauge', 'Memory in use, in bytes.', residentBytes),
    family('process_start_time_seconds', 'gauge', 'Start of the process since the Unix epoch.', startTimeSeconds),
    family('process_open_fds', 'gauge', 'Open file descriptors.', openFds),
    family('process_max_fds', 'gauge', 'File descriptors that may be open.', maxFds),
  ];
}

function family(name: string, type: Family['type'], help: string, value: number | undefined): Family {
  return { name, help, type, samples: value === undefined ? [] : [{ labels: {}, value }] };
}
