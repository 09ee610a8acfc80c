import { isoTime, systemClock } from '../../lib/base/clock.ts';
import type { Log, LogEntry } from '../../lib/base/log.ts';

/** A log on standard output: JSON lines for machines, or one readable line an entry. */
export function createLog(format: 'json' | 'pretty', write: (line: string) => void = console.log): Log {
  const print = format === 'json' ? jsonLine : prettyLine;
  return (entry) => write(print(isoTime(systemClock.now()), entry));
}

function jsonLine(time: string, entry: LogEntry): string {
  return JSON.stringify({ time, ...entry }, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}

/** `12:00:00.000 info  request  method=GET path=/healthz`; a stack follows on lines of its own. */
function prettyLine(time: string, { level, event, stack, ...members }: LogEntry): string {
  const words = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${prettyValue(value)}`,
  );
  const line = [time.slice(11, 23), level.padEnd(5), event, ...words].join(' ');
  return typeof stack === 'string' ? `${line}\n${stack.replace(/^/gm, '    ')}` : line;
}

/** Bare where it reads unmistakably, quoted and escaped otherwise: an entry never spans or fakes a line. */
function prettyValue(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /^[\x21\x23-\x7e]+$/.test(text) ? text : JSON.stringify(text);
}
