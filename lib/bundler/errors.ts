// Errors of bundlers and paymasters: ERC-7769, EIP-1474, and −32521 as vendors send it.
import { TEXT_CHARS_MAX } from '../constants.ts';

/**
 * A JSON-RPC error for callers. `data.kind` is a word for the code, `data.aa` the EntryPoint's code, such as `AA21`.
 */
export interface BundlerRpcError {
  readonly code: number;
  readonly message: string;
  readonly data: { readonly kind: string; readonly aa?: string; readonly [member: string]: unknown };
}

/**
 * Reads an upstream's error: its code (−32603 without one), its message, and its data beside `kind`; data that is not
 * an object becomes `data.data`.
 */
export function readRpcError(error: unknown): BundlerRpcError {
  const { code, message, data } = error as {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly data?: unknown;
  };
  const known = Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR;
  const words = typeof message === 'string' ? message.slice(0, TEXT_CHARS_MAX).toWellFormed() : '';
  const aa = /\bAA\d\d\b/.exec(words)?.[0];
  const own = { kind: KINDS.get(known) ?? 'upstream', ...(aa === undefined ? {} : { aa }) };
  return { code: known, message: words, data: { ...members(data), ...own } };
}

const INTERNAL_ERROR = -32603;

const KINDS: ReadonlyMap<number, string> = new Map([
  [-32500, 'entrypoint_rejected'],
  [-32501, 'paymaster_rejected'],
  [-32502, 'opcode_violation'],
  [-32503, 'out_of_time_range'],
  [-32504, 'throttled'],
  [-32505, 'stake_too_low'],
  [-32507, 'signature_invalid'],
  [-32508, 'paymaster_balance'],
  [-32521, 'execution_reverted'],
  [-32601, 'method_not_found'],
  [-32602, 'invalid_params'],
]);

function members(data: unknown): object {
  if (data === undefined || data === null) return {};
  return typeof data === 'object' && !Array.isArray(data) ? data : { data };
}
