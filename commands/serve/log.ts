import { isoTime, systemClock } from '../../lib/base/clock.ts';
import type { Log, LogEntry, LogLevel } from '../../lib/base/log.ts';
import { createPaint, isColourful, type Paint } from '../cli/colour.ts';

/**
 * A log on standard output: JSON lines for machines, or one readable line an entry, in colour where the terminal takes
 * it. Numbers are rounded.
 */
export function createLog(
  format: 'json' | 'pretty',
  write: (line: string) => void = console.log,
  paint = createPaint(format === 'pretty' && isColourful()),
): Log {
  const print = format === 'json' ? jsonLine : (time: string, entry: LogEntry) => prettyLine(time, entry, paint);
  return (entry) => write(print(isoTime(systemClock.now()), entry));
}

function jsonLine(time: string, entry: LogEntry): string {
  return JSON.stringify({ time, ...entry }, asWritten);
}

const STYLES: Readonly<Record<LogLevel, keyof Paint>> = { error: 'red', warn: 'yellow', info: 'green', debug: 'dim' };

/** `12:00:00.000 info  request  method=GET path=/healthz`; a stack follows on lines of its own. */
function prettyLine(time: string, { level, event, stack, ...members }: LogEntry, paint: Paint): string {
  const words = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : `${paint.dim(`${name}=`)}${prettyValue(name === 'requestId' ? shortId(value) : value)}`,
  );
  const line = [paint.dim(time.slice(11, 23)), paint[STYLES[level]](level.padEnd(5)), paint.bold(event), ...words];
  return [line.join(' '), ...(typeof stack === 'string' ? [stack.replace(/^/gm, '    ')] : [])].join('\n');
}

/** Bare where it reads unmistakably, quoted and escaped otherwise: an entry never spans or fakes a line. */
function prettyValue(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value, asWritten) : String(asWritten('', value));
  return /^[\x21\x23-\x7e]+$/.test(text) ? text : JSON.stringify(text);
}

/** The end of an id of the vault's own, which counts its requests; a caller's id is whole. */
function shortId(id: unknown): unknown {
  return typeof id === 'string' && /^[0-9a-f]{32}$/.test(id) ? id.slice(-8) : id;
}

/** A replacer of JSON: big integers as text, other numbers with two decimals, small ones with three digits. */
function asWritten(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'number' || Number.isInteger(value) || !Number.isFinite(value)) return value;
  return Math.abs(value) >= 1 ? Math.round(value * 100) / 100 : Number(value.toPrecision(3));
}
