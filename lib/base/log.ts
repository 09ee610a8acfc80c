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

/**
 * An error for the log: name, message and causes, nearest first. Only unexpected failures have a stack: where an
 * upstream is down or a disk is full, the call site helps nobody.
 */
export function describeError(error: unknown): { message: string; stack?: string; cause?: string } {
  const causes = causesOf(error).map(say).join('; ');
  const stack = error instanceof Error && !isExpected(error) ? error.stack : undefined;
  return {
    message: say(error),
    ...(stack ? { stack: withoutProgramPaths(stack) } : {}),
    ...(causes ? { cause: causes } : {}),
  };
}

/** Names of errors from outside: a failed upstream, an unavailable database, a deadline that has passed. */
const EXPECTED_NAMES = ['DatabaseUnavailable', 'UpstreamError', 'RpcError', 'TimeoutError', 'AbortError'];

/** Codes of our own mistakes: of the runtime, and of statements that SQLite refuses. */
const OWN_MISTAKE = /^(?:ERR_|internal_error|SQLITE_(?:ERROR|CONSTRAINT|MISUSE|MISMATCH|RANGE|SCHEMA|INTERNAL))/;

/** Whether it is a failure of the world: by its name, or by the code of a system, a database or an answer. */
function isExpected(error: Error): boolean {
  if (EXPECTED_NAMES.includes(error.name)) return true;
  return 'code' in error && typeof error.code === 'string' && !OWN_MISTAKE.test(error.code);
}

/** Where a program keeps its own code, on Unix and on Windows: a path that is on no disk. */
function withoutProgramPaths(text: string): string {
  return text.replace(/(?:file:\/\/)?(?:\/\$bunfs\/root|[A-Za-z]:[\\/]~BUN[\\/]root)[\\/]/g, '');
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
  if (error instanceof Error) return withoutProgramPaths(`${error.name}: ${error.message}`);
  // Converting an object thrown by a host's database to text may itself fail.
  return typeof error === 'object' && error !== null ? 'a thrown object' : String(error);
}
