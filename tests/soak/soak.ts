import { type Connections, openIdle, openStreams } from './connections.ts';
import { type Found, offerMix } from './load.ts';
import { judge, type Sample, shareOf, type Verdict } from './samples.ts';
import { startSoakedVault } from './vault.ts';

/** How a soak runs. */
export interface SoakOptions {
  readonly folder: string;
  readonly minutes: number;
  readonly streams: number;
  readonly idle: number;
  readonly perSecond: number;
  readonly seed: number;
  /** How many samples are taken. */
  readonly samples: number;
  /** The compiled program; the source when absent. */
  readonly program?: string | undefined;
  readonly say?: (sample: Sample) => void;
}

/** What a soak found. */
export interface Soaked {
  readonly samples: readonly Sample[];
  readonly verdicts: readonly Verdict[];
  /** Answers by request and status, over the whole run. */
  readonly answers: Readonly<Record<string, number>>;
  readonly events: number;
  readonly reopened: { readonly streams: number; readonly idle: number };
  readonly errors: readonly string[];
  readonly exitCode: number;
  /** Descriptors before any load, and when all connections are gone. */
  readonly descriptors: readonly [number, number];
}

/** Streams and idle connections that are ended in a second, in thousandths of them. */
const CHURN = 1;
/** What is not closed after so long is not on its way to be closed. */
const STALLED_MS = 10_000;

/** Runs a mixed load with churn beside open streams and idle connections, and samples the vault's process. */
export async function soak(options: SoakOptions): Promise<Soaked> {
  const { folder, minutes, perSecond, seed, say } = options;
  const vault = await startSoakedVault(folder, options.program);
  const answers: Record<string, number> = {};
  const samples: Sample[] = [];
  try {
    const first = vault.read().descriptors;
    const streams = await openStreams(vault, options.streams);
    const idle = await openIdle(vault, options.idle);
    const load = offerMix(vault, { perSecond, seed });
    const churning = setInterval(() => {
      streams.churn(Math.ceil((options.streams * CHURN) / 1_000));
      idle.churn(Math.ceil((options.idle * CHURN) / 1_000));
    }, 1_000);
    const add = (some: Readonly<Record<string, number>>) => {
      for (const [name, count] of Object.entries(some)) answers[name] = (answers[name] ?? 0) + count;
    };
    const start = performance.now();
    const span = (minutes * 60_000) / options.samples;
    let [cpuMs, at] = [vault.read().cpuMs, start];
    for (let i = 1; i <= options.samples; i++) {
      await Bun.sleep(Math.max(0, start + i * span - performance.now()));
      const [now, read, found] = [performance.now(), vault.read(), load.take()];
      add(found.answers);
      const sample = sampleOf({ minute: (now - start) / 60_000, ms: now - at, ...read }, cpuMs, found, {
        streams,
        idle,
      });
      [cpuMs, at] = [read.cpuMs, now];
      samples.push(sample);
      say?.(sample);
    }
    clearInterval(churning);
    await load.stop();
    add(load.take().answers);
    streams.end();
    idle.end();
    const last = await fewest(() => vault.read().descriptors, first);
    return {
      samples,
      verdicts: judge(samples),
      answers,
      events: streams.events,
      reopened: { streams: streams.reopened, idle: idle.reopened },
      errors: vault.errors,
      descriptors: [first, last],
      exitCode: await vault.stop(),
    };
  } finally {
    await vault.stop();
  }
}

/** How few descriptors are left once the vault has seen that the connections are gone. */
async function fewest(read: () => number, before: number): Promise<number> {
  let [least, end] = [Number.POSITIVE_INFINITY, 0];
  for (;;) {
    const now = read();
    if (now < least) [least, end] = [now, performance.now() + STALLED_MS];
    if (least <= before || performance.now() > end) return least;
    await Bun.sleep(100);
  }
}

interface Read {
  readonly minute: number;
  readonly ms: number;
  readonly residentMb: number;
  readonly descriptors: number;
  readonly cpuMs: number;
}

function sampleOf(
  { minute, ms, residentMb, descriptors, cpuMs }: Read,
  cpuMsBefore: number,
  { latencies, ownStallMs }: Found,
  { streams, idle }: { streams: Connections; idle: Connections },
): Sample {
  return {
    minute,
    residentMb,
    descriptors,
    processor: (cpuMs - cpuMsBefore) / ms,
    perSecond: (latencies.length * 1_000) / ms,
    p50Ms: shareOf(latencies, 0.5),
    p99Ms: shareOf(latencies, 0.99),
    ownStallMs,
    streams: streams.open,
    idle: idle.open,
  };
}
