/** Every error code with its HTTP status. The codes are those of the specification (section 7) and its completions. */
export const ERROR_STATUS = {
  bad_request: 400,
  invalid_grant: 400,
  parse_error: 400,
  invalid_request: 400,
  invalid_params: 400,
  token_missing: 401,
  token_invalid: 401,
  token_expired: 401,
  token_revoked: 401,
  operator_unauthorized: 401,
  token_scope: 403,
  attestation_invalid: 403,
  attestation_mismatch: 403,
  attestation_expired: 403,
  attestation_used: 403,
  proof_invalid: 403,
  did_not_yours: 403,
  redirect_not_allowed: 403,
  method_refused: 403,
  sponsorship_refused: 403,
  path_not_allowed: 403,
  metrics_forbidden: 403,
  origin_not_allowed: 403,
  pass_invalid: 403,
  registration_closed: 403,
  invite_required: 403,
  invite_invalid: 403,
  mail_domain_refused: 403,
  recovery_channel_refused: 403,
  recovery_refused: 403,
  veto_invalid: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  identifier_reserved: 409,
  identifier_taken: 409,
  did_taken: 409,
  join_taken: 409,
  credential_already_registered: 409,
  recovery_pending: 409,
  recovery_barred: 409,
  key_is_owner: 409,
  idempotency_key_in_use: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  misdirected_request: 421,
  idempotency_key_reused: 422,
  rate_limited: 429,
  ip_limit_reached: 429,
  relay_limit_reached: 429,
  sponsor_limit_reached: 429,
  recovery_limit_reached: 429,
  internal_error: 500,
  email_send_failed: 502,
  sms_send_failed: 502,
  sms_provider_error: 502,
  rpc_error: 502,
  bundler_error: 502,
  indexer_error: 502,
  identifier_busy: 503,
  relay_unfunded: 503,
  registry_missing: 503,
  guardian_unfunded: 503,
  recoveries_not_offered: 503,
  bundler_not_configured: 503,
  indexer_not_configured: 503,
  indexer_behind: 503,
  email_not_configured: 503,
  sms_not_configured: 503,
  database_unavailable: 503,
  shutting_down: 503,
  bundler_timeout: 504,
  indexer_timeout: 504,
} as const;

/** The hints of codes that always have the same cause. */
const HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  attestation_expired: 'Check the code again with POST /api/verify/check, and send the new attestation at once.',
  attestation_invalid: 'Send the whole attestation of POST /api/verify/check, unchanged. Handles need none.',
  attestation_mismatch: 'Send the attestation of this identifier and channel.',
  attestation_used: 'An attestation is for one use: check a new code with POST /api/verify/check.',
  idempotency_key_reused: 'The key stands for another request: send a new one.',
  identifier_busy: 'Another request about this identifier is under way: try again after Retry-After.',
  internal_error: "The vault's log has the cause under the X-Request-Id of this response.",
  metrics_forbidden: 'Send METRICS_TOKEN as a bearer token, or ask from a network of METRICS_ALLOW.',
  database_unavailable: 'Try again in a few seconds: nothing was changed unless a later look-up shows it.',
  indexer_behind: 'The vault still reads the chain for the first time: try again later, or ask the contracts.',
  indexer_not_configured: 'This vault does not follow the chain (FOLLOWER, INDEXER_URL): ask the contracts.',
  join_taken: 'Another key came first, or the link was used before: show a new one, and let nobody else scan it.',
  misdirected_request: 'Use the host of BASE_URL or an IP address, or add this host to ALLOWED_HOSTS.',
  email_not_configured: 'This vault sends no mail (EMAIL_PROVIDER is none).',
  origin_not_allowed: 'The operator of the vault lists the origins that may write in ALLOWED_ORIGINS.',
  pass_invalid: 'The pass is not one for this identifier, or has ended: send without it to get a new one.',
  guardian_unfunded: 'The guardian has no ether for the transaction: the operator of the vault must send it some.',
  registration_closed: 'This vault registers nobody new (REGISTRATION): who is registered signs in with a passkey.',
  invite_required: 'This vault registers by invitation: send the token of an invite as invite.',
  invite_invalid: 'The invite is unknown, used up, over, or of another address or app: ask for a new one.',
  mail_domain_refused: 'This vault registers no addresses of this mail domain: use another address.',
  key_is_owner: 'The passkey is a key of this account already: sign in with it.',
  recoveries_not_offered: 'This vault is no guardian (GUARDIAN_PRIVATE_KEY).',
  recovery_barred: 'Two recoveries of this account were stopped: for 30 days none is proposed.',
  recovery_channel_refused: 'Only an email address recovers an account, never a text message.',
  recovery_pending: 'Another key is proposed for this account: stop that recovery first.',
  recovery_refused: 'The owners of this account have not named this vault and this address for its recovery.',
  veto_invalid: 'The account refuses this signature: it must be by one of its keys, over the recovery that is pending.',
  redirect_not_allowed:
    'REGISTER_REDIRECTS of the vault names the apps and their exact redirect URIs: compare each character.',
  registry_missing:
    'DID_REGISTRY_ADDRESS names an address without code on this chain: nothing was registered. Try again later.',
  shutting_down: 'The vault is restarting: try again in a few seconds.',
  sms_not_configured: 'This vault sends no SMS (SMS_PROVIDER is none).',
};

/** A code of the table. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** A limit that refused, and the seconds until a slot is free, absent if none will be. */
export interface LimitState {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
  readonly retryAfterSeconds?: number;
  /** The limit's key: of a client or an identifier, empty for the whole vault. Never shown to the caller. */
  readonly bucket?: string;
}

/** What an error may carry besides its code. */
export interface ErrorDetails {
  /** The public text; the code where it is not given. */
  readonly message?: string;
  /** For the log; the caller never sees it. */
  readonly cause?: unknown;
  readonly limit?: LimitState;
  readonly retryAfterSeconds?: number;
  /** One sentence that says what to do, where the code leaves a person guessing. */
  readonly hint?: string;
  /** One word for the cause, where several causes share the code. */
  readonly reason?: string;
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
    const hint = details.hint ?? HINTS[code];
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
