import { readdirSync, readFileSync } from 'node:fs';

/** Processor time used so far, in microseconds. */
export interface Processor {
  /** User and system time of the process and of all below it, threads that ended included. */
  readonly tree: number;
  /** Of the first thread of the process alone: where Bun's event loop runs. */
  readonly main: number;
}

/** The processor time of a process. Linux counts 100 ticks a second, so measure for a second or more. */
export function processorOf(pid: number): Processor {
  const tree = treeOf(pid).reduce((sum, one) => sum + ticksOf(`/proc/${one}/stat`), 0) * TICK_MICROS;
  return { tree, main: mainOf(pid) };
}

/** The processor time of a process's living threads, in microseconds, as exact as the scheduler counts. */
export function threadsOf(pid: number): number {
  const nanos = tasksOf(pid).map((task) => Number(textOf(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0]));
  return nanos.reduce((sum, one) => sum + one, 0) / 1000;
}

/** Resident memory of a process and of all below it, in bytes. */
export function residentOf(pid: number): number {
  const kib = treeOf(pid).map((one) => Number(/VmRSS:\s+(\d+)/.exec(textOf(`/proc/${one}/status`))?.[1] ?? 0));
  return kib.reduce((sum, one) => sum + one, 0) * 1024;
}

const TICK_MICROS = 10_000;

function ticksOf(path: string): number {
  const fields = textOf(path).split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

/** The scheduler's own count, in nanoseconds, or ticks where the kernel keeps none. */
function mainOf(pid: number): number {
  const nanos = Number(textOf(`/proc/${pid}/task/${pid}/schedstat`).split(' ')[0] || Number.NaN);
  return nanos > 0 ? nanos / 1000 : ticksOf(`/proc/${pid}/task/${pid}/stat`) * TICK_MICROS;
}

function treeOf(pid: number): number[] {
  const children = tasksOf(pid).flatMap((task) => textOf(`/proc/${pid}/task/${task}/children`).split(' '));
  return [pid, ...children.filter(Boolean).flatMap((child) => treeOf(Number(child)))];
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Empty for a thread or a process that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
