import * as v from 'valibot';
import { badRequest } from '../../lib/base/error.ts';
import {
  CODE_CHARS_MAX,
  CREDENTIAL_ID_CHARS_MAX,
  DID_CHARS_MAX,
  IDENTIFIER_CHARS_MAX,
  TEXT_CHARS_MAX,
} from '../../lib/constants.ts';
import { CHANNELS, type ProvableChannel } from '../../lib/identity/identifier.ts';

/** One field of a body or query: its schema's first message is the 400 a caller reads. */
export interface Field<T, R extends boolean = boolean> {
  readonly schema: v.GenericSchema<unknown, T>;
  readonly required: R;
}

/** Fields by name; their order is the specification's. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The values of checked fields; an optional one that was absent, null or empty is undefined. */
export type Values<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T, infer R> ? (R extends true ? T : T | undefined) : never;
};

/** A field that must be there. */
export function required<T>(schema: v.GenericSchema<unknown, T>): Field<T, true> {
  return { schema, required: true };
}

/** A field that may be absent, null or empty. */
export function optional<T>(schema: v.GenericSchema<unknown, T>): Field<T, false> {
  return { schema, required: false };
}

/**
 * Checks a record field by field. Throws 400: first for a missing field, naming all required ones in their order, then
 * for the first field of a wrong type or form.
 */
export function readFields<F extends Fields>(
  fields: F,
  record: Readonly<Record<string, unknown>>,
  kind: 'required fields' | 'query parameters',
): Values<F> {
  const names = Object.keys(fields);
  const requiredNames = names.filter((name) => fields[name]?.required);
  if (requiredNames.some((name) => isMissing(record, name))) {
    throw badRequest(`Missing ${kind}: ${requiredNames.join(', ')}`);
  }
  const values: Record<string, unknown> = {};
  for (const name of names) {
    if (isMissing(record, name)) continue;
    values[name] = checkField((fields[name] as Field<unknown>).schema, record[name]);
  }
  return values as Values<F>;
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
export function text(name: string, max: number = TEXT_CHARS_MAX) {
  const message = `Invalid ${name}`;
  return v.pipe(v.string(message), v.maxLength(max, message), v.check(isClean, message));
}

/** The same without any white space. */
export function word(name: string, max: number = TEXT_CHARS_MAX) {
  return v.pipe(text(name, max), v.regex(/^\S+$/u, `Invalid ${name}`));
}

/** The fields that several routes share. */
export const identifierText = text('identifier', IDENTIFIER_CHARS_MAX);
export const aliasText = text('alias', IDENTIFIER_CHARS_MAX);
export const didText = word('did', DID_CHARS_MAX);
export const credentialIdText = word('credentialId', CREDENTIAL_ID_CHARS_MAX);
export const codeText = word('code', CODE_CHARS_MAX);

/** Any of the three channels. */
export const channelName = v.picklist(CHANNELS, 'Invalid channel. Must be "sms", "email" or "handle"');

/** A channel that takes one-time codes. */
export const provableChannelName = v.picklist(
  ['sms', 'email'] as const satisfies readonly ProvableChannel[],
  'Invalid channel. Must be "sms" or "email"',
);

/** Name of an app. */
export const appName = v.pipe(v.string('Invalid app'), v.regex(/^[a-z0-9-]{1,64}$/, 'Invalid app'));

/** A transaction hash, 0x-hex of 32 bytes, lower-cased. */
export const txHashText = v.pipe(text('txHash'), v.regex(/^0x[0-9a-fA-F]{64}$/, 'Invalid txHash'), v.toLowerCase());

/** A 20-byte EVM address, lower-cased. */
export function addressText(name: string) {
  const message = `Invalid ${name}: expected 20-byte address`;
  return v.pipe(v.string(message), v.regex(/^0x[0-9a-fA-F]{40}$/, message), v.toLowerCase());
}

/** A number below 2²⁵⁶ in hex, with or without 0x; an odd number of digits and leading zeros are as good as any. */
export function uint256Hex(message: string) {
  const toBigInt = (digits: string) => BigInt(digits.startsWith('0x') ? digits : `0x${digits}`);
  return v.pipe(
    uint256Digits(/^(?:0x)?[0-9a-fA-F]+$/, message),
    v.transform(toBigInt),
    v.maxValue(UINT256_MAX, message),
  );
}

/** A number below 2²⁵⁶, decimal or in hex with 0x. */
export function uint256(message: string) {
  return v.pipe(
    uint256Digits(/^(?:\d+|0x[0-9a-fA-F]+)$/, message),
    v.transform((digits) => BigInt(digits)),
    v.maxValue(UINT256_MAX, message),
  );
}

/** A block number as a JSON number. */
export const blockNumberValue = v.pipe(
  v.number('Invalid blockNumber'),
  v.safeInteger('Invalid blockNumber'),
  v.minValue(0, 'Invalid blockNumber'),
);

const UINT256_MAX = 2n ** 256n - 1n;

function uint256Digits(pattern: RegExp, message: string) {
  return v.pipe(v.string(message), v.maxLength(TEXT_CHARS_MAX, message), v.regex(pattern, message));
}

function isClean(value: string): boolean {
  return value.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(value);
}
