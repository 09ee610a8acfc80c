import { writeAll } from '../storage/durable.ts';
import type { Arguments } from './arguments.ts';

/**
 * Prints the result of a command. Throws where `console.log` would silently lose it (a full disk); `EPIPE` for a broken
 * pipe.
 */
export function print(text: string): void {
  writeAll(STANDARD_OUTPUT, Buffer.from(`${text}\n`));
}

/** Prints the answer of a command: `value` as JSON with `--json`, else in words. */
export function printAnswer({ options }: Pick<Arguments, 'options'>, value: unknown, inWords: () => string): void {
  print(options['json'] === undefined ? inWords() : JSON.stringify(value, null, 2));
}

/** Its file descriptor. */
export const STANDARD_OUTPUT = 1;
