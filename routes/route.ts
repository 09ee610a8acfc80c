import type { Context } from '../lib/context.ts';
import type { RequestLimit } from '../lib/limits.ts';
import { randomId } from '../lib/random.ts';
import type { Answer } from './answer.ts';
import { type Fields, readFields, type Values } from './fields.ts';
import { type Idempotency, type Keep, withIdempotency } from './idempotency.ts';
import { readJsonObject, readQuery } from './read.ts';

/** What a row may be asked with; HEAD is served by GET's. */
export type Method = 'GET' | 'POST';

/** One checked request, as a handler sees it. */
export interface Call<Input> {
  readonly vault: Context;
  readonly input: Input;
  /** The key the client's limits are counted under. */
  readonly client: string;
  readonly request: Request;
  /** There when the request has an `Idempotency-Key`. */
  readonly keep?: Keep;
}

/** What the boundary hands a row. */
export interface Incoming {
  readonly vault: Context;
  readonly request: Request;
  readonly client: string;
}

/** A route as plain data: what `routes/index.ts` serves, and what the documents are read off. */
export interface Row {
  readonly method: Method;
  readonly path: string;
  readonly query: Fields;
  readonly body: Fields | undefined;
  readonly limit: LimitName | undefined;
  readonly answer: (incoming: Incoming, limits: Limits) => Promise<Answer>;
}

/** The in-memory request limits: `reads` for checks and look-ups, `proxy` for calls that cost an upstream one. */
export type LimitName = 'reads' | 'proxy';

/** A vault's own request limits. */
export type Limits = Readonly<Record<LimitName, RequestLimit>>;

interface Definition<F extends Fields> {
  readonly limit?: LimitName;
  /** Renames accepted aliases before anything is checked. */
  readonly prepare?: (record: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly handler: (call: Call<Values<F>>) => Promise<Answer> | Answer;
  readonly fields?: F;
}

/** A GET row; its fields are query parameters. */
export function get<F extends Fields = Record<never, never>>(path: string, definition: Definition<F>): Row {
  const { fields = {} as F, prepare = same, handler, limit } = definition;
  const hasFields = Object.keys(fields).length > 0;
  return {
    method: 'GET',
    path,
    query: fields,
    body: undefined,
    limit,
    async answer({ vault, request, client }, limits) {
      if (limit) limits[limit](client);
      const record = hasFields || request.url.includes('?') ? prepare(readQuery(request.url)) : NONE;
      return handler({ vault, request, client, input: readFields(fields, record, 'query parameters') });
    },
  };
}

/** A POST row; its fields are members of the JSON body. With `idempotency` an `Idempotency-Key` is honoured. */
export function post<F extends Fields>(
  path: string,
  definition: Definition<F> & { readonly fields: F; readonly idempotency?: Idempotency<Values<F>> },
): Row {
  const { fields, prepare = same, handler, limit, idempotency } = definition;
  return {
    method: 'POST',
    path,
    query: {},
    body: fields,
    limit,
    async answer({ vault, request, client }, limits) {
      if (limit) limits[limit](client);
      readQuery(request.url);
      const input = readFields(fields, prepare(await readJsonObject(request)), 'required fields');
      const run = async (keep?: Keep) => handler({ vault, request, client, input, ...(keep ? { keep } : {}) });
      const key = idempotency && request.headers.get('idempotency-key');
      if (!idempotency || key === null || key === undefined) return run();
      return withIdempotency(vault, { route: path, key, input, owner: randomId(vault.random), idempotency }, run);
    },
  };
}

const NONE: Readonly<Record<string, unknown>> = {};

function same<T>(record: T): T {
  return record;
}
