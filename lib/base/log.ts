/** The most causes logged of one error. */
export const LOG_CAUSES_MAX = 5;

/** Severities, most severe first. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;

/** A severity. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One log entry: flat members, identifiers masked by the writer, never a secret, a code or a query string. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly event: string;
  readonly [member: string]: unknown;
}

/** The log sink; the host decides on format and place. */
export type Log = (entry: LogEntry) => void;

/** Drops entries below `level`. */
export function atLevel(level: LogLevel, log: Log): Log {
  const most = LOG_LEVELS.indexOf(level);
  return (entry) => {
    if (LOG_LEVELS.indexOf(entry.level) <= most) log(entry);
  };
}

/** An error for the log: name, message and stack, and its causes, nearest first. */
export function describeError(error: unknown): { message: string; stack?: string; cause?: string } {
  const causes = causesOf(error).map(say).join('; ');
  const stack = error instanceof Error ? error.stack : undefined;
  return { message: say(error), ...(stack ? { stack } : {}), ...(causes ? { cause: causes } : {}) };
}

function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  // Bounded, because a chain of causes may be circular.
  for (let one = error; one instanceof Error && one.cause !== undefined && causes.length < LOG_CAUSES_MAX; ) {
    one = one.cause;
    causes.push(one);
  }
  return causes;
}

function say(error: unknown): string {
  if (error instanceof Error) return `${error.name}: ${error.message}`;
  // Converting an object thrown by a host's database to text may itself fail.
  return typeof error === 'object' && error !== null ? 'a thrown object' : String(error);
}
