import { randomId } from '../../lib/base/random.ts';
import type { Context } from '../../lib/context.ts';
import type { FailureLimit, RequestLimit } from '../../lib/limits/limits.ts';
import type { Answer } from './answer.ts';
import { readJson, readJsonObject, readQuery } from './body.ts';
import { type Fields, readFields, type Values } from './fields.ts';
import { type Idempotency, type Keep, withIdempotency } from './idempotency.ts';

/** What a row may be asked with; HEAD is served by GET's. */
export type Method = 'GET' | 'POST';

/** One checked request, as a handler sees it. */
export interface Call<Input> {
  readonly vault: Context;
  /** The app that the request's events belong to: the one it names by `X-Vault-App`, else `default`. */
  readonly app: string;
  readonly input: Input;
  /** The key the client's limits are counted under. */
  readonly client: string;
  /** The address of the socket's other end, where the host knows it. */
  readonly peer: string | undefined;
  readonly request: Request;
  /** There when the request has an `Idempotency-Key`. */
  readonly keep?: Keep;
}

/** What the boundary hands a row. */
export interface Incoming {
  readonly vault: Context;
  readonly app: string;
  readonly request: Request;
  readonly client: string;
  readonly peer: string | undefined;
}

/** A route as plain data: what `routes/index.ts` serves, and what the documents are read off. */
export interface Row {
  readonly method: Method;
  readonly path: string;
  readonly query: Fields;
  /** `json` is any JSON value, which the handler judges itself. */
  readonly body: Fields | 'json' | undefined;
  /** Of a row whose body has two forms, the other one's fields. */
  readonly otherBody?: Fields;
  readonly limit: LimitName | undefined;
  readonly answer: (incoming: Incoming, limits: Limits) => Promise<Answer>;
}

/** The in-memory request limits: `reads` for checks and look-ups, `proxy` for calls that cost an upstream one. */
export type LimitName = 'reads' | 'proxy';

/** A vault's own request limits. */
export type Limits = Readonly<Record<LimitName, RequestLimit>> & { readonly operator: FailureLimit };

interface Definition<F extends Fields> {
  readonly limit?: LimitName;
  /** Renames accepted aliases before anything is checked. */
  readonly prepare?: (record: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly handler: (call: Call<Values<F>>) => Promise<Answer> | Answer;
  readonly fields?: F;
}

/** Another form of a row's body, for the records it applies to. */
interface OtherForm<F extends Fields> extends Pick<Definition<F>, 'limit' | 'handler'> {
  readonly applies: (vault: Context, record: Readonly<Record<string, unknown>>) => boolean;
  readonly fields: F;
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
    async answer({ vault, app, request, client, peer }, limits) {
      if (limit) limits[limit](client);
      const record = hasFields || request.url.includes('?') ? prepare(readQuery(request.url)) : NONE;
      return handler({ vault, app, request, client, peer, input: readFields(fields, record, 'query parameters') });
    },
  };
}

/** A POST row; its fields are members of the JSON body. With `idempotency` an `Idempotency-Key` is honoured. */
export function post<F extends Fields, G extends Fields = F>(
  path: string,
  definition: Definition<F> & {
    readonly fields: F;
    readonly other?: OtherForm<G>;
    readonly idempotency?: Idempotency<Values<F> | Values<G>>;
  },
): Row {
  const { fields, prepare = same, handler, limit, other, idempotency } = definition;
  return {
    method: 'POST',
    path,
    query: {},
    body: fields,
    ...(other ? { otherBody: other.fields } : {}),
    limit,
    async answer({ vault, app, request, client, peer }, limits) {
      if (limit) limits[limit](client);
      readQuery(request.url);
      const record = prepare(await readJsonObject(request));
      const asked = { vault, app, request, client, peer };
      const isOther = other?.applies(vault, record) === true;
      if (isOther && other.limit) limits[other.limit](client);
      const input = readFields(isOther ? other.fields : fields, record, 'required fields');
      const run = async (keep?: Keep) => {
        const kept = keep ? { keep } : {};
        if (isOther) return other.handler({ ...asked, input: input as Values<G>, ...kept });
        return handler({ ...asked, input: input as Values<F>, ...kept });
      };
      const key = idempotency && request.headers.get('idempotency-key');
      if (!idempotency || key === null || key === undefined) return run();
      const attempt = { route: path, key, input: input as Values<F> | Values<G>, owner: randomId(vault.random) };
      return withIdempotency(vault, { ...attempt, idempotency }, run);
    },
  };
}

interface JsonDefinition {
  readonly limit: LimitName;
  readonly maxBytes: number;
  readonly handler: (call: JsonCall) => Promise<Answer>;
}

/** A request whose body is any JSON value, undefined when it is none. */
interface JsonCall extends Call<unknown> {
  /** Spends one more of the row's limit. Throws 429 `rate_limited`. */
  readonly spend: () => void;
}

/** A POST row for a protocol of its own: its handler is given the body as parsed, an array too, and says in the protocol's words what is wrong with it. */
export function postJson(path: string, { limit, maxBytes, handler }: JsonDefinition): Row {
  return {
    method: 'POST',
    path,
    query: {},
    body: 'json',
    limit,
    async answer({ vault, app, request, client, peer }, limits) {
      const spend = () => limits[limit](client);
      spend();
      readQuery(request.url);
      return handler({ vault, app, request, client, peer, input: await readJson(request, maxBytes), spend });
    },
  };
}

const NONE: Readonly<Record<string, unknown>> = {};

function same<T>(record: T): T {
  return record;
}
