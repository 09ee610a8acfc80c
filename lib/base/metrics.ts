import { createLastCalls, type LastCalls } from './last-calls.ts';
import { type LabelValues, METRICS, type Metric, type MetricCatalogue, type MetricType } from './metric-catalogue.ts';

/** Labels of one series; values come from bounded sets, never from a request. */
export type Labels = Readonly<Record<string, string>>;

/** A number that only grows. */
export interface Counter<Own extends Labels = Labels> {
  add(labels?: Own, by?: number): void;
  /** The series of these labels, for code that runs too often to look it up each time. */
  of(labels: Own): { add(by?: number): void };
}

/** A number that goes up and down. */
export interface Gauge<Own extends Labels = Labels> {
  set(value: number, labels?: Own): void;
  of(labels: Own): { set(value: number): void };
}

/** A distribution of durations in seconds over fixed bucket bounds. */
export interface Histogram<Own extends Labels = Labels> {
  observe(seconds: number, labels?: Own): void;
  of(labels: Own): { observe(seconds: number): void };
}

/** One series as read: a histogram's `buckets` are cumulative and end with +Inf. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  readonly buckets?: readonly { readonly le: number; readonly count: number }[];
}

/** All series of one metric name, as read. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly samples: readonly Sample[];
}

/**
 * The measurements of one vault, in memory. A use names a family of the catalogue, and gives a value to each of its
 * labels.
 */
export interface Metrics<C extends MetricCatalogue = typeof METRICS> {
  counter<N extends NameOf<C, 'counter'>>(name: N): Counter<LabelsOf<C, N>>;
  gauge<N extends NameOf<C, 'gauge'>>(name: N): Gauge<LabelsOf<C, N>>;
  histogram<N extends NameOf<C, 'histogram'>>(name: N): Histogram<LabelsOf<C, N>>;
  /** The last answers of parts outside, which no number shows. */
  readonly calls: LastCalls;
  /** Adds families that are read at each scrape. */
  include(source: () => readonly Family[]): void;
  read(): readonly Family[];
}

type NameOf<C, Type extends MetricType> = keyof {
  [N in keyof C & string as C[N] extends { type: Type } ? N : never]: N;
};
type LabelsOf<C extends MetricCatalogue, N extends keyof C> = C[N] extends { values: infer V extends LabelValues }
  ? { readonly [L in keyof V & string]: V[L][number] } & Readonly<
      Record<Exclude<C[N]['labels'][number], keyof V>, string>
    >
  : Readonly<Record<C[N]['labels'][number], string>>;

/**
 * Bucket bounds for durations, in seconds: half a millisecond (one local commit) to ten seconds (an upstream's
 * timeout).
 */
export const DURATION_BOUNDS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A fresh set of the catalogue's families. One shows up once it is named, and naming it again returns the same one. */
export function createMetrics<C extends MetricCatalogue = typeof METRICS>(
  catalogue: C = METRICS as MetricCatalogue as C,
): Metrics<C> {
  const families = new Map<string, Named>();
  const sources: (() => readonly Family[])[] = [];
  const family = (name: string): Named => {
    const known = families.get(name);
    if (known) return known;
    const made = named(name, catalogue[name] as Metric);
    families.set(name, made);
    return made;
  };
  return {
    counter: (name) => family(name).uses,
    gauge: (name) => family(name).uses,
    histogram: (name) => family(name).uses,
    calls: createLastCalls(),
    include: (source) => void sources.push(source),
    read() {
      const counted = [...families.values()].map(({ name, help, type, bounds, series }) => ({
        name,
        help,
        type,
        samples: [...series.values()].map((one) => sampleOf(one, type, bounds)),
      }));
      return [...counted, ...sources.flatMap((source) => source())];
    },
  };
}

/**
 * Shows each counter whose series are all known as 0, except those that the host counts. For a series that begins at 1
 * `increase()` is 0, so an alert would miss the first event. `known` has the values that this vault's settings close.
 */
export function startAtZero(metrics: Metrics, known: LabelValues = {}): void {
  for (const [name, { type, labels, values = {} }] of Object.entries<Metric>(METRICS)) {
    if (type !== 'counter' || name.startsWith('process_')) continue;
    let series: Labels[] = [{}];
    for (const label of labels)
      series = (values[label] ?? known[label] ?? []).flatMap((value) =>
        series.map((one) => ({ ...one, [label]: value })),
      );
    for (const one of series) (metrics.counter(name as NameOf<typeof METRICS, 'counter'>) as Counter).of(one);
  }
}

interface Named extends Omit<Family, 'samples'> {
  readonly bounds: readonly number[];
  readonly series: Map<string, Series>;
  /** Made once, as some are named at each request. */
  readonly uses: Counter & Gauge & Histogram;
}

interface Series {
  readonly labels: Labels;
  readonly counts: number[];
  value: number;
}

const NONE: Labels = {};

function named(name: string, { type, help, bounds = DURATION_BOUNDS_SECONDS }: Metric): Named {
  const one = { name, help, type, bounds: type === 'histogram' ? bounds : [], series: new Map<string, Series>() };
  const at = (labels: Labels = NONE) => seriesOf(one, labels);
  const uses: Named['uses'] = {
    add: (labels, by = 1) => grow(at(labels), by),
    set: (value, labels) => put(at(labels), value),
    observe: (seconds, labels) => count(at(labels), one.bounds, seconds),
    of(labels) {
      const series = at(labels);
      return {
        add: (by = 1) => grow(series, by),
        set: (value: number) => put(series, value),
        observe: (seconds: number) => count(series, one.bounds, seconds),
      };
    },
  };
  return { ...one, uses };
}

function seriesOf({ series, bounds }: Pick<Named, 'series' | 'bounds'>, labels: Labels): Series {
  let key = '';
  for (const name in labels) key += `${labels[name]}\n`;
  let one = series.get(key);
  if (!one) {
    one = { labels, counts: new Array<number>(bounds.length + 1).fill(0), value: 0 };
    series.set(key, one);
  }
  return one;
}

function grow(one: Series, by: number): void {
  one.value += by;
}

function put(one: Series, value: number): void {
  one.value = value;
}

function count(one: Series, bounds: readonly number[], seconds: number): void {
  let i = 0;
  while (i < bounds.length && seconds > (bounds[i] as number)) i++;
  one.counts[i] = (one.counts[i] ?? 0) + 1;
  one.value += seconds;
}

function sampleOf(one: Series, type: Family['type'], bounds: readonly number[]): Sample {
  if (type !== 'histogram') return { labels: one.labels, value: one.value };
  let total = 0;
  const buckets = one.counts.map((n, i) => {
    total += n;
    return { le: bounds[i] ?? Number.POSITIVE_INFINITY, count: total };
  });
  return { labels: one.labels, value: one.value, buckets };
}
