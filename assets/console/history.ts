/** The events of one step; null where no process is known to have run. */
export interface HistoryPoint {
  readonly at: string;
  readonly requests: number | null;
  readonly errors: number | null;
  readonly sends: number | null;
  readonly verifications: number | null;
  readonly registrations: number | null;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

/** The answer of `GET /v1/console/history`; a test compares it with the vault's own type. */
export interface History {
  readonly range: 'hour' | 'day';
  readonly step_seconds: number;
  readonly points: readonly HistoryPoint[];
  /** Sums by `<counter>.<outcome>`. */
  readonly totals: Readonly<Record<string, number>>;
}

/** A chart: its line, its figure, and further facts, in words. */
export interface Drawn {
  readonly name: string;
  readonly title: string;
  readonly figure: string;
  readonly detail: string;
  /** One value a point, null for no data. */
  readonly values: readonly (number | null)[];
  /** A second, paler line. */
  readonly below?: readonly (number | null)[];
  readonly format: (value: number) => string;
  /** A value in words, for example `3 requests`. */
  readonly say: (index: number) => string;
}
