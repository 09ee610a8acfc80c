import { asVaultError, DatabaseUnavailable, type ErrorCode, VaultError } from '../lib/base/error.ts';
import { describeError } from '../lib/base/log.ts';
import { type CallId, callBundler, readId } from '../lib/bundler/proxy.ts';
import type { Context } from '../lib/context.ts';
import { recordRefusal } from '../lib/limits/limit-events.ts';
import { JsonRpcAnswer, JsonRpcCall, JsonRpcOutcome } from './answers/chain.ts';
import { json, type Reply } from './http/response.ts';
import { type Call, postJson, type Route } from './http/route.ts';

/** The bundler's longest body, and the most calls in one batch. */
export const BUNDLER_BODY_BYTES_MAX = 256 * 1024;
export const BUNDLER_BATCH_MAX = 10;

/** JSON-RPC, passed on to the bundler. */
export const bundlerRoutes = [
  postJson('/api/bundler', {
    summary: 'Call the bundler by JSON-RPC',
    wire: JsonRpcCall,
    answers: { 200: JsonRpcAnswer, 400: JsonRpcOutcome, 403: JsonRpcOutcome },
    example: { jsonrpc: '2.0', id: 1, method: 'eth_supportedEntryPoints', params: [] },
    limit: 'proxy',
    maxBytes: BUNDLER_BODY_BYTES_MAX,
    async handler({ ctx, app, client, input, spend }) {
      if (input === undefined) return refuse(null, new VaultError('parse_error', { message: 'Parse error' }));
      if (!Array.isArray(input)) return answerCall({ ctx, app, client }, input);
      if (input.length === 0 || input.length > BUNDLER_BATCH_MAX) {
        return refuse(
          null,
          new VaultError('invalid_request', { message: `Invalid Request: a batch holds 1 to ${BUNDLER_BATCH_MAX}` }),
        );
      }
      // A batch costs as many upstream calls as it has items.
      for (let spent = 1; spent < input.length; spent++) spend();
      return json(await Promise.all(input.map((item) => answerItem({ ctx, app, client }, item))));
    },
  }),
] as const satisfies readonly Route[];

/** Only a body that is not JSON-RPC, and a method off the list, get a status of their own. */
const STATUS: { readonly [Code in ErrorCode]?: number } = {
  parse_error: 400,
  invalid_request: 400,
  method_refused: 403,
};

/** The JSON-RPC code of each refusal. viem repeats a call whose code is −32603 or −32005, so none of ours is. */
const CODES: { readonly [Code in ErrorCode]?: number } = {
  parse_error: -32700,
  invalid_request: -32600,
  method_refused: -32601,
  invalid_params: -32602,
  sponsorship_refused: -32501,
  // EIP-1474: transaction rejected.
  sender_not_served: -32003,
  // ERC-7769: the paymaster is throttled.
  sponsor_limit_reached: -32504,
  internal_error: -32603,
};
/** EIP-1474: resource unavailable; the code of every failure without one. */
const UNAVAILABLE = -32002;
/** The bundler may have received the call all the same. */
const UNANSWERED: ReadonlySet<ErrorCode> = new Set(['bundler_error', 'bundler_timeout']);

/** The caller: the app of the events, and the key that limits count under. */
type Caller = Pick<Call<unknown>, 'ctx' | 'app' | 'client'>;

/**
 * Answers a single request. Clients drop the body of any status but 200. Rethrows internal faults; refusals are
 * answered.
 */
async function answerCall({ ctx, app, client }: Caller, message: unknown): Promise<Reply> {
  const id = readId(message) ?? null;
  try {
    return json({ jsonrpc: '2.0', id, ...(await callBundler(ctx, message, client, app)) });
  } catch (error) {
    if (!(error instanceof VaultError || error instanceof DatabaseUnavailable)) throw error;
    record(ctx, app, error);
    return refuse(id, asVaultError(error));
  }
}

/** Answers one request of a batch: every failure is a JSON-RPC error. */
async function answerItem({ ctx, app, client }: Caller, message: unknown): Promise<object> {
  const id = readId(message) ?? null;
  try {
    return { jsonrpc: '2.0', id, ...(await callBundler(ctx, message, client, app)) };
  } catch (error) {
    record(ctx, app, error);
    return errorBody(id, asVaultError(error));
  }
}

/** A limit's refusal is an event. A failure that the operator must mend is logged. */
function record(ctx: Context, app: string, error: unknown): void {
  recordRefusal(ctx, app, error);
  // The store logs that the database is away.
  if (error instanceof DatabaseUnavailable) return;
  const isKnown = error instanceof VaultError;
  if (isKnown && error.code in CODES) return;
  ctx.log({ level: isKnown ? 'warn' : 'error', event: 'bundler_call_failed', ...describeError(error) });
}

function refuse(id: CallId, error: VaultError): Reply {
  return json(errorBody(id, error), { status: STATUS[error.code] ?? 200 });
}

function errorBody(id: CallId, { code: word, message, details }: VaultError): object {
  const code = CODES[word] ?? UNAVAILABLE;
  const { extra, hint, limit, retryAfterSeconds = limit?.retryAfterSeconds } = details;
  const data: Record<string, unknown> = {
    ...(code === UNAVAILABLE ? { kind: UNANSWERED.has(word) ? 'unanswered' : 'unavailable' } : {}),
    ...(limit ? { kind: 'throttled', limit: limit.name } : {}),
    ...(retryAfterSeconds === undefined ? {} : { retry_after: Math.max(0, retryAfterSeconds) }),
    ...(hint === undefined ? {} : { hint }),
    ...extra,
  };
  return { jsonrpc: '2.0', id, error: { code, message, ...(Object.keys(data).length > 0 ? { data } : {}) } };
}
