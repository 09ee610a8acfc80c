/** Severities, most severe first. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** One log entry: flat members, identifiers masked by whoever writes it, never a secret, a code or a query string. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly event: string;
  readonly [member: string]: unknown;
}

/** Where entries go: the host decides on form and place. */
export type Log = (entry: LogEntry) => void;

/** Drops entries below `level`. */
export function atLevel(level: LogLevel, log: Log): Log {
  const most = LOG_LEVELS.indexOf(level);
  return (entry) => {
    if (LOG_LEVELS.indexOf(entry.level) <= most) log(entry);
  };
}

/** What the log may say of an unexpected failure: name, message and stack, with the chain of causes. */
export function describeError(error: unknown): { message: string; stack?: string; cause?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause).message };
  return { message: `${error.name}: ${error.message}`, ...(error.stack ? { stack: error.stack } : {}), ...cause };
}
