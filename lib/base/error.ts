import type { ErrorWord } from './error-word.ts';
import { FAILURES } from './failures.ts';
import { REFUSALS } from './refusals.ts';
import { REQUEST_ERRORS } from './request-errors.ts';

/** Every error word. The words are those of the specification (section 7) and its completions. */
export const ERRORS = { ...REQUEST_ERRORS, ...REFUSALS, ...FAILURES };

/** A code of the table. */
export type ErrorCode = keyof typeof ERRORS;

/** A limit that refused, and the seconds until a slot is free, absent if none will be. */
export interface LimitState {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
  readonly retryAfterSeconds?: number;
  /** The limit's key: of a client or an identifier, empty for the whole vault. Never shown to the caller. */
  readonly bucket?: string;
}

/** Optional parts of an error. */
export interface ErrorDetails {
  /** The public text; the code where it is not given. */
  readonly message?: string;
  /** For the log; the caller never sees it. */
  readonly cause?: unknown;
  readonly limit?: LimitState;
  readonly retryAfterSeconds?: number;
  /** One sentence with the next step, where the code leaves a person guessing. */
  readonly hint?: string;
  /** One word for the cause, where several causes share the code. */
  readonly reason?: string;
  /** Headers of the reply. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Members added beside `error` in the reply. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The only error that a caller sees: `code` sets the status. Only `routes/http/` turns one into a reply. */
export class VaultError extends Error {
  override readonly name = 'VaultError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.message ?? code, { cause: details.cause });
    this.code = code;
    const hint = details.hint ?? (ERRORS[code] as ErrorWord).hint;
    this.details = hint === undefined ? details : { ...details, hint };
  }
}

/**
 * The database did not answer, or takes no writes. Not a `VaultError`: services take those for an upstream's failure,
 * and go on.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** `damaged` is for good; `stalled` has not answered for long. */
  readonly state: 'unavailable' | 'stalled' | 'damaged';

  constructor(
    message: string,
    given: { readonly cause?: unknown; readonly state?: DatabaseUnavailable['state'] } = {},
  ) {
    super(message, { cause: given.cause });
    this.state = given.state ?? 'unavailable';
  }
}

/** The error that a caller sees for any failure. */
export function asVaultError(error: unknown): VaultError {
  if (error instanceof VaultError) return error;
  if (!(error instanceof DatabaseUnavailable)) return new VaultError('internal_error', { cause: error });
  if (error.state === 'damaged')
    return new VaultError('database_unavailable', { cause: error, reason: 'damaged', hint: DAMAGED });
  return new VaultError('database_unavailable', { cause: error, retryAfterSeconds: DATABASE_RETRY_SECONDS });
}

const DAMAGED = 'The database is damaged: the operator must restore a backup. Trying again does not help.';

/** After how long a caller should try a database again that was away. */
export const DATABASE_RETRY_SECONDS = 5;

/** A 400 whose message names the offending field; `hint` says what is expected. */
export function badRequest(message: string, hint?: string): VaultError {
  return new VaultError('bad_request', { message, ...(hint === undefined ? {} : { hint }) });
}

/** The 415 for a body that is not declared as JSON, or as the type given. */
export function unsupportedMediaType(expected = 'application/json'): VaultError {
  return new VaultError('unsupported_media_type', {
    message: `Unsupported media type: send Content-Type: ${expected}`,
  });
}

/** The 502 for a chain's node that fails or answers nonsense; `cause`, an error or its text, is for the log. */
export function rpcError(cause: unknown): VaultError {
  return new VaultError('rpc_error', { cause: typeof cause === 'string' ? new Error(cause) : cause });
}

/**
 * The error to throw for several settled calls: the first that is no `VaultError`, a fault of ours, else the first;
 * undefined if none failed.
 */
export function worstFailure(results: readonly PromiseSettledResult<unknown>[]): unknown {
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  return failures.find((failure) => !(failure instanceof VaultError)) ?? failures[0];
}
