import * as v from 'valibot';
import { closest } from '../../lib/base/closest.ts';
import { badRequest } from '../../lib/base/error.ts';
import { TEXT_CHARS_MAX } from '../../lib/constants.ts';

/** One field of a body or query: its schema's first message is the 400 a caller reads. */
export interface Field<S extends v.GenericSchema = v.GenericSchema, R extends boolean = boolean> {
  readonly schema: S;
  readonly required: R;
}

/** Fields by name; their order is the specification's. */
export type Fields = Readonly<Record<string, Field>>;

/** The values of checked fields; an optional one that was absent, null or empty is undefined. */
export type Values<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer S, infer R>
    ? v.InferOutput<S> | (R extends true ? never : undefined)
    : never;
};

/** A field that must be there. */
export function required<S extends v.GenericSchema>(schema: S): Field<S, true> {
  return { schema, required: true };
}

/** A field that may be absent, null or empty. */
export function optional<S extends v.GenericSchema>(schema: S): Field<S, false> {
  return { schema, required: false };
}

/** Checks a record field by field, as `createReader` says. */
export type Reader<F extends Fields> = (record: Readonly<Record<string, unknown>>) => Values<F>;

/**
 * Reads the fields of a record. Throws 400: first for a missing field, naming all required ones in their order and in
 * the hint those that are missing; then for the first field of a wrong type or form.
 */
export function createReader<F extends Fields>(fields: F, kind: 'required fields' | 'query parameters'): Reader<F> {
  const all = Object.entries<Field>(fields);
  const requiredNames = all.filter(([, field]) => field.required).map(([name]) => name);
  return (record) => {
    const missing = requiredNames.filter((name) => isMissing(record, name));
    if (missing.length > 0) {
      const others = Object.keys(record).filter((name) => !Object.hasOwn(fields, name));
      throw badRequest(`Missing ${kind}: ${requiredNames.join(', ')}`, hintOf(missing, requiredNames, others));
    }
    const values: Record<string, unknown> = {};
    for (const [name, { schema }] of all) if (!isMissing(record, name)) values[name] = checkField(schema, record[name]);
    return values as Values<F>;
  };
}

/** A body may hold thousands of names. */
const OTHERS_MAX = 20;

/**
 * Which fields are missing, each with the unknown one that was sent and is spelt nearly alike; undefined where the
 * message says as much.
 */
function hintOf(missing: readonly string[], all: readonly string[], others: readonly string[]): string | undefined {
  const names = missing.map((name) => {
    const meant = closest(name, others.slice(0, OTHERS_MAX));
    return meant === undefined ? name : `${name} (you sent ${meant})`;
  });
  return names.join() === all.join() ? undefined : `Missing or empty: ${names.join(', ')}.`;
}

/** One value by its schema. Throws 400 with the schema's first message. */
export function checkField<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (!result.success) throw badRequest(result.issues[0].message);
  return result.output;
}

/** Whether a member is absent, null or empty; inherited ones never count. */
export function isMissing(record: Readonly<Record<string, unknown>>, name: string): boolean {
  if (!Object.hasOwn(record, name)) return true;
  const value = record[name];
  return value === undefined || value === null || value === '';
}

/** A well-formed string without control characters, at most `max` UTF-16 units. */
export function textField(name: string, max: number = TEXT_CHARS_MAX) {
  const message = `Invalid ${name}`;
  return v.pipe(v.string(message), v.maxLength(max, message), v.check(isClean, message));
}

/** The same without any white space. */
export function word(name: string, max: number = TEXT_CHARS_MAX) {
  return v.pipe(textField(name, max), v.regex(/^\S+$/u, `Invalid ${name}`));
}

function isClean(value: string): boolean {
  return value.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(value);
}
