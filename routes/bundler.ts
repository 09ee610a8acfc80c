import { type ErrorCode, VaultError } from '../lib/base/error.ts';
import { describeError } from '../lib/base/log.ts';
import { type CallId, callBundler, readId } from '../lib/bundler/proxy.ts';
import type { Context } from '../lib/context.ts';
import { recordRefusal } from '../lib/limits/limit-events.ts';
import { failureReply, json, type Reply } from './http/response.ts';
import { postJson, type Route } from './http/route.ts';

/** The bundler's longest body, and the most calls in one batch. */
export const BUNDLER_BODY_BYTES_MAX = 256 * 1024;
export const BUNDLER_BATCH_MAX = 10;

/** JSON-RPC, passed on to the bundler. */
export const bundlerRoutes: readonly Route[] = [
  postJson('/api/bundler', {
    limit: 'proxy',
    maxBytes: BUNDLER_BODY_BYTES_MAX,
    async handler({ ctx, app, input, spend }) {
      if (input === undefined) return refuse(null, new VaultError('parse_error', { message: 'Parse error' }));
      if (!Array.isArray(input)) return answerCall(ctx, app, input);
      if (input.length === 0 || input.length > BUNDLER_BATCH_MAX) {
        return refuse(
          null,
          new VaultError('invalid_request', { message: `Invalid Request: a batch holds 1 to ${BUNDLER_BATCH_MAX}` }),
        );
      }
      // A batch costs as many upstream calls as it has items.
      for (let spent = 1; spent < input.length; spent++) spend();
      return json(await Promise.all(input.map((item) => answerItem(ctx, app, item))));
    },
  }),
];

/** The JSON-RPC code of each refusal of ours; a failure without one is no JSON-RPC reply. */
const CODES: { readonly [Code in ErrorCode]?: number } = {
  parse_error: -32700,
  invalid_request: -32600,
  method_refused: -32601,
  invalid_params: -32602,
  sponsorship_refused: -32501,
  // EIP-1474: limit exceeded.
  sponsor_limit_reached: -32005,
};
const INTERNAL_ERROR = -32603;

/** One request alone: 200 for whatever the bundler answered, since clients drop the body of any other status. */
async function answerCall(ctx: Context, app: string, message: unknown): Promise<Reply> {
  const id = readId(message) ?? null;
  try {
    return json({ jsonrpc: '2.0', id, ...(await callBundler(ctx, message)) });
  } catch (error) {
    if (error instanceof VaultError && error.code in CODES) {
      recordRefusal(ctx, app, error);
      return refuse(id, error);
    }
    throw error;
  }
}

/** One of a batch, which has no status of its own: every failure is a JSON-RPC error. */
async function answerItem(ctx: Context, app: string, message: unknown): Promise<object> {
  const id = readId(message) ?? null;
  try {
    return { jsonrpc: '2.0', id, ...(await callBundler(ctx, message)) };
  } catch (error) {
    recordRefusal(ctx, app, error);
    const isKnown = error instanceof VaultError;
    const known = isKnown ? error : new VaultError('internal_error', { cause: error });
    if (!(known.code in CODES)) {
      ctx.log({ level: isKnown ? 'warn' : 'error', event: 'bundler_call_failed', ...describeError(error) });
    }
    return errorBody(id, known);
  }
}

function refuse(id: CallId, error: VaultError): Reply {
  return { ...failureReply(error), body: JSON.stringify(errorBody(id, error)) };
}

function errorBody(id: CallId, { code, message, details }: VaultError): object {
  const { extra } = details;
  return {
    jsonrpc: '2.0',
    id,
    error: { code: CODES[code] ?? INTERNAL_ERROR, message, ...(extra ? { data: extra } : {}) },
  };
}
