/** JSON-RPC 2.0: https://www.jsonrpc.org/specification, error codes of Ethereum nodes: EIP-1474. */

import { type UpstreamAnswer, UpstreamError } from '../base/http-client.ts';
import { isObject, parseJson } from '../base/json.ts';

/** The longest part of a node's error message that is logged. */
const RPC_MESSAGE_CHARS_MAX = 120;

/**
 * A node's own error. `data` is a call's revert data, 0x-hex. The message is shortened and cleaned for the log; decide
 * nothing by it.
 */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: string | undefined;

  constructor(code: number, message: string, data?: string) {
    super(`${code} ${message}`.trimEnd());
    this.code = code;
    this.data = data;
  }
}

/** A response as received; its members are unchecked. */
export interface RpcMessage {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** The result or the error of one call. */
export type RpcOutcome = { readonly result: unknown } | { readonly error: Error };

/** The outcome of the one request sent under `id`. Throws `UpstreamError` when the answer is not a response to it. */
export function readResponse(id: number, { status, text }: UpstreamAnswer): RpcOutcome {
  const message = parseJson(text);
  if (isObject<RpcMessage>(message)) {
    const outcome = outcomeOf(message);
    // A node that could not read the request's id answers its error under null.
    if (outcome && (message.id === id || (message.id === null && 'error' in outcome))) return outcome;
  }
  throw unusable(status);
}

/**
 * The response to the one request sent under `id`, unchanged. Throws `UpstreamError` when the answer is not a
 * response.
 */
export function readMessage(id: number, { status, text }: UpstreamAnswer): RpcMessage {
  const message = parseJson(text);
  const isError = isObject<RpcMessage>(message) && isObject(message.error);
  if (isObject<RpcMessage>(message) && (isError || 'result' in message)) {
    if (message.id === id || (message.id === null && isError)) return message;
  }
  throw unusable(status);
}

/** The outcomes of a batch by id, without missing or malformed ones; undefined when the node refuses such a batch. */
export function readBatch(size: number, { status, text }: UpstreamAnswer): ReadonlyMap<number, RpcOutcome> | undefined {
  const answer = parseJson(text);
  if (!Array.isArray(answer)) {
    if (BATCH_REFUSED_STATUS.has(status) || (isObject(answer) && status === 200)) return undefined;
    throw unusable(status);
  }
  const outcomes = new Map<number, RpcOutcome>();
  for (const item of answer as unknown[]) {
    if (!isObject<RpcMessage>(item) || typeof item.id !== 'number' || outcomes.has(item.id)) continue;
    const outcome = outcomeOf(item);
    if (outcome) outcomes.set(item.id, outcome);
  }
  return outcomes.size === 1 && size > 1 && isInvalidRequest(outcomes) ? undefined : outcomes;
}

/**
 * The statuses with which servers refuse a batch; a rate limit, a refused key or a failure says nothing about
 * batches.
 */
const BATCH_REFUSED_STATUS: ReadonlySet<number> = new Set([400, 404, 405, 413, 415, 422, 501]);
const INVALID_REQUEST = -32600;

/**
 * Undefined unless the message holds a result or a well-formed error; some nodes send `"error": null` beside a result.
 */
function outcomeOf(message: RpcMessage): RpcOutcome | undefined {
  if (message.error === undefined || message.error === null) {
    return 'result' in message ? { result: message.result } : undefined;
  }
  const { code, message: words, data } = message.error as { code?: unknown; message?: unknown; data?: unknown };
  if (!Number.isSafeInteger(code)) return undefined;
  return { error: new RpcError(code as number, clean(words), revertData(data)) };
}

/** Geth's answer to more calls than it takes: one error, under the first call's id. */
function isInvalidRequest(outcomes: ReadonlyMap<number, RpcOutcome>): boolean {
  const [outcome] = outcomes.values();
  return outcome !== undefined && 'error' in outcome && (outcome.error as RpcError).code === INVALID_REQUEST;
}

/** Strikes out URLs and words long enough to be a key. */
function clean(words: unknown): string {
  if (typeof words !== 'string') return '';
  const printable = words.slice(0, 4 * RPC_MESSAGE_CHARS_MAX).replace(/[^ -~]+/g, ' ');
  return printable.replace(/\S*\/\/\S*|\S{25,}/g, '…').slice(0, RPC_MESSAGE_CHARS_MAX);
}

/** Most nodes answer the bytes themselves, some an object that holds them. */
function revertData(data: unknown): string | undefined {
  const bytes = isObject(data) ? data['data'] : data;
  return typeof bytes === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(bytes) ? bytes : undefined;
}

function unusable(status: number): UpstreamError {
  return status < 200 || status > 299 ? new UpstreamError('refused', `${status}`) : new UpstreamError('malformed');
}
