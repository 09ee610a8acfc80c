import { writeAll } from '../storage/durable.ts';
import type { Arguments } from './arguments.ts';

/** Prints what a command was asked for, whole: throws where `console.log` would lose it in silence, on a full disk for instance, and `EPIPE` when its reader has gone. */
export function print(text: string): void {
  writeAll(STANDARD_OUTPUT, Buffer.from(`${text}\n`));
}

/** Prints the answer of a command: `value` as JSON with `--json`, else in words. */
export function printAnswer({ options }: Pick<Arguments, 'options'>, value: unknown, inWords: () => string): void {
  print(options['json'] === undefined ? inWords() : JSON.stringify(value, null, 2));
}

/** Its file descriptor. */
export const STANDARD_OUTPUT = 1;
