import type * as v from 'valibot';
import { randomId } from '../../lib/base/random.ts';
import type { Context } from '../../lib/context.ts';
import type { RequestLimit } from '../../lib/limits/limits.ts';
import { readFormFields, readJson, readJsonObject, readQuery } from './body.ts';
import type { Answers, Described, Security } from './describe.ts';
import { createReader, type Fields, type Values } from './fields.ts';
import { type Idempotency, type Keep, withIdempotency } from './idempotency.ts';
import type { Reply } from './response.ts';

/** The methods of routes; a GET route serves HEAD too. */
export type Method = 'GET' | 'POST';

/** One checked request, as a handler sees it. */
export interface Call<Input> {
  readonly ctx: Context;
  /** The app that the request's events belong to: the one it names by `X-Vault-App`, else `default`. */
  readonly app: string;
  readonly input: Input;
  /** The key the client's limits are counted under. */
  readonly client: string;
  /** The address of the socket's other end, where the host knows it. */
  readonly peer: string | undefined;
  readonly request: Request;
  /** The caller of a route of the operator. */
  readonly operator: ActingOperator | undefined;
  /** Spends one request of the limit `proxy`, for an answer that turns out to cost an upstream call. Throws 429. */
  readonly spendProxy: () => void;
  /** There when the request has an `Idempotency-Key`. */
  readonly keep?: Keep;
}

/** A request as the router hands it to a route. */
export interface Incoming {
  readonly ctx: Context;
  readonly app: string;
  readonly request: Request;
  readonly client: string;
  readonly peer: string | undefined;
  readonly operator?: ActingOperator | undefined;
}

/** The role that a route of the operator needs: `root` is the operator secret. Each includes those before it. */
export type RouteRole = 'viewer' | 'operator' | 'root';

/** The caller of a route of the operator; end (milliseconds) and CID of their token are null for the secret. */
export interface ActingOperator {
  readonly name: string;
  readonly role: RouteRole;
  readonly expiresAt: number | null;
  readonly cid: string | null;
}

/** A route as plain data. `routes/index.ts` serves it; the documents and the client's types are made from it. */
export interface Route<
  M extends Method = Method,
  P extends string = string,
  F extends Fields = Fields,
  A extends Answers = Answers,
  G extends Fields | undefined = Fields | undefined,
> extends Described<A> {
  readonly method: M;
  readonly path: P;
  /** Parameters of the query of a GET, members of the body of a POST. */
  readonly fields: F;
  /** The fields of the body's other form, where it has two. */
  readonly otherFields: G;
  /** The kind of a POST's body: `any` is any JSON value, which the handler judges itself; `form` is that of a page. */
  readonly body: 'object' | 'any' | 'form' | undefined;
  readonly limit: RequestLimitName | undefined;
  /** It ignores the query, as links may carry parameters of anyone's. */
  readonly isPage: boolean;
  /** Its errors are those of OAuth 2.0: `error_description` in place of `hint`. */
  readonly isOAuth?: true;
  /** It honours `Idempotency-Key`. */
  readonly isIdempotent: boolean;
  readonly security?: Security;
  /** The least role that may call a route of the operator; some of its fields may ask for more. */
  readonly role?: RouteRole;
  /** The body's schema where it has no fields. */
  readonly wire?: v.GenericSchema;
  /** Throws or rejects. */
  readonly handle: (incoming: Incoming, limits: Limits) => Promise<Reply> | Reply;
}

/**
 * The in-memory request limits: `reads` for checks and look-ups, `writes` for requests that may write, `proxy` for
 * calls that cost an upstream one.
 */
export type RequestLimitName = 'reads' | 'writes' | 'proxy';

/** A vault's own request limits; `operator` is spent by wrong secrets alone, `app` by apps that authenticated. */
export type Limits = Readonly<Record<RequestLimitName | 'operator' | 'app', RequestLimit>>;

interface Definition<F extends Fields, A extends Answers> extends Described<A> {
  readonly limit?: RequestLimitName;
  /** Renames accepted aliases before anything is checked. */
  readonly prepare?: (record: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly handler: (call: Call<Values<F>>) => Promise<Reply> | Reply;
  readonly fields?: F;
  /** A page or file: it ignores the query, as links may carry parameters of anyone's. */
  readonly isPage?: true;
  readonly security?: Security;
}

/** Another form of a route's body, for the records it applies to. */
interface OtherForm<F extends Fields> extends Pick<Definition<F, Answers>, 'limit' | 'handler'> {
  readonly applies: (ctx: Context, record: Readonly<Record<string, unknown>>) => boolean;
  readonly fields: F;
}

/** A GET route; its fields are query parameters. */
export function get<P extends string, const A extends Answers, F extends Fields = NoFields>(
  path: P,
  definition: Definition<F, A>,
): Route<'GET', P, F, A, undefined> {
  const { fields = {} as F, prepare = same, handler, limit, isPage = false, ...described } = definition;
  const read = createReader(fields, 'query parameters');
  const hasFields = Object.keys(fields).length > 0;
  return {
    ...described,
    method: 'GET',
    path,
    fields,
    otherFields: undefined,
    body: undefined,
    limit,
    isPage,
    isIdempotent: false,
    handle({ ctx, app, request, client, peer, operator }, limits) {
      if (limit) limits[limit](client);
      const hasQuery = !isPage && (hasFields || request.url.includes('?'));
      const record = hasQuery ? prepare(readQuery(request.url)) : NONE;
      const spendProxy = () => limits.proxy(client);
      return handler({ ctx, app, input: read(record), client, peer, request, operator, spendProxy });
    },
  };
}

/** A POST route; its fields are members of the JSON body. With `idempotency` an `Idempotency-Key` is honoured. */
export function post<P extends string, const A extends Answers, F extends Fields, G extends Fields = never>(
  path: P,
  definition: Definition<F, A> & {
    readonly fields: F;
    readonly other?: OtherForm<G>;
    readonly idempotency?: Idempotency<Values<F> | Values<G>>;
  },
): Route<'POST', P, F, A, OtherOf<NoInfer<G>>> {
  const { fields, prepare = same, handler, limit, other, idempotency, isPage = false, ...described } = definition;
  const read = createReader(fields, 'required fields');
  const readOther = other && createReader(other.fields, 'required fields');
  return {
    ...described,
    method: 'POST',
    path,
    fields,
    otherFields: other?.fields as OtherOf<NoInfer<G>>,
    body: 'object',
    limit,
    isPage,
    isIdempotent: idempotency !== undefined,
    async handle({ ctx, app, request, client, peer, operator }, limits) {
      if (limit) limits[limit](client);
      readQuery(request.url);
      const record = prepare(await readJsonObject(ctx.clock, request));
      const spendProxy = () => limits.proxy(client);
      const isOther = other?.applies(ctx, record) === true;
      if (isOther && other.limit) limits[other.limit](client);
      const input = (isOther && readOther ? readOther : read)(record);
      const asked = { ctx, app, input, client, peer, request, operator, spendProxy };
      const run = async (keep?: Keep) => {
        const call = keep ? { ...asked, keep } : asked;
        return isOther ? other.handler(call as Call<Values<G>>) : handler(call as Call<Values<F>>);
      };
      const key = idempotency && request.headers.get('idempotency-key');
      if (!idempotency || key === null || key === undefined) return run();
      const owner = randomId(ctx.random);
      const attempt = { route: path, key, input: input as Values<F> | Values<G>, client, owner };
      return withIdempotency(ctx, { ...attempt, idempotency }, run);
    },
  };
}

interface JsonDefinition<A extends Answers, W extends v.GenericSchema> extends Described<A> {
  readonly limit: RequestLimitName;
  readonly maxBytes: number;
  /** The schema of the request's body. */
  readonly wire: W;
  readonly handler: (call: JsonCall) => Promise<Reply>;
}

/** A request whose body is any JSON value, undefined for a body that is not JSON. */
interface JsonCall extends Call<unknown> {
  /** Spends one more of the route's limit. Throws 429 `rate_limited`. */
  readonly spend: () => void;
}

/** A POST route for another protocol: its handler takes any JSON value, and reports what is wrong in that protocol. */
export function postJson<P extends string, const A extends Answers, W extends v.GenericSchema>(
  path: P,
  { limit, maxBytes, handler, ...described }: JsonDefinition<A, W>,
): Route<'POST', P, NoFields, A, undefined> & { readonly wire: W } {
  return {
    ...described,
    ...PLAIN_POST,
    path,
    fields: {},
    body: 'any',
    limit,
    async handle({ ctx, app, request, client, peer, operator }, limits) {
      const spend = () => limits[limit](client);
      spend();
      readQuery(request.url);
      const asked = { ctx, app, request, client, peer, operator, spend, spendProxy: () => limits.proxy(client) };
      return handler({ ...asked, input: await readJson(ctx.clock, request, maxBytes) });
    },
  };
}

/** A POST route for the form of a page, which works without JavaScript; its fields are those of the form. */
export function postForm<P extends string, const A extends Answers, F extends Fields>(
  path: P,
  definition: Definition<F, A> & { readonly fields: F; readonly limit: RequestLimitName },
): Route<'POST', P, F, A, undefined> {
  const { fields, limit, handler, isPage: _, prepare: __, ...described } = definition;
  const read = createReader(fields, 'required fields');
  return {
    ...described,
    ...PLAIN_POST,
    path,
    fields,
    body: 'form',
    limit,
    async handle({ ctx, app, request, client, peer, operator }, limits) {
      limits[limit](client);
      const input = read(await readFormFields(ctx.clock, request));
      return handler({ ctx, app, input, client, peer, request, operator, spendProxy: () => limits.proxy(client) });
    },
  };
}

/** The members common to POST routes whose body is not a JSON object. */
export const PLAIN_POST = { method: 'POST', otherFields: undefined, isPage: false, isIdempotent: false } as const;

type OtherOf<G extends Fields> = [G] extends [never] ? undefined : G;
type NoFields = Readonly<Record<never, never>>;

const NONE: Readonly<Record<string, unknown>> = {};

const same = <T>(record: T): T => record;
