import type { Statement, Value } from './database.ts';

/** A statement as every engine takes it. */
export type Bound = { sql: string; args: Record<string, Value> };

/**
 * Converts arguments to types that every engine accepts. Throws before a wrong one could fail a batch shared with
 * others.
 */
export function bind({ sql, args }: Statement): Bound {
  const bound: Record<string, Value> = {};
  for (const name in args) bound[name] = toColumn(name, args[name]);
  return { sql, args: bound };
}

/** Integers become bigint, because libSQL binds every number as REAL. */
function toColumn(name: string, value: unknown): Value {
  if (value === null || (typeof value === 'string' && value.isWellFormed())) return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value;
  throw new TypeError(`:${name} is not a value that a column can store`);
}
