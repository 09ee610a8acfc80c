/** What the client itself finds wrong, in the place of the vault's word. Each has a hint that says what to do. */
const HINTS = {
  unreachable: 'The vault did not answer. Try again.',
  unexpected_answer: 'This URL does not answer as a vault does. Check it.',
  cancelled: 'Nothing was sent.',
  passkey_refused: 'No passkey was used: the person refused, waited too long, or has none here. Ask again.',
  rp_id_refused:
    "The browser does not let this page use passkeys of the vault's RP ID. See RP_IDS and RELATED_ORIGINS of the vault.",
  not_registered: 'The vault knows no registration of this passkey. Register first.',
  not_offered: 'This vault does not offer it.',
  registration_failed: 'The chain refused the registration. Register again.',
  operation_refused: 'The bundler refused the user operation.',
  not_paid_yet: 'The page ended without a receipt. Ask again with the same id: an order is paid once.',
  payment_blocked: 'The browser opened no window. Call pay() from a click.',
} as const;

/** A word for what the client itself finds wrong. */
export type ClientFault = keyof typeof HINTS;

/** What the vault said beside its word. */
export interface ErrorParts {
  readonly status?: number;
  readonly hint?: string | undefined;
  readonly reason?: string | undefined;
  readonly limit?: string | undefined;
  /** In seconds. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** A refusal of the vault, or a fault on the way to it. `error` is the word to decide by. */
export class VaultClientError extends Error {
  override readonly name = 'VaultClientError';
  /** The vault's word, such as `rate_limited`, or one of the client's. */
  readonly error: string;
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** One sentence that says what to do. */
  readonly hint: string | undefined;
  /** Which of several causes of one word. */
  readonly reason: string | undefined;
  /** The limit that refused. */
  readonly limit: string | undefined;
  /** Seconds until it can succeed. */
  readonly retryAfter: number | undefined;

  constructor(error: string, { status = 0, hint, reason, limit, retryAfter, cause }: ErrorParts = {}) {
    const known = hint ?? (HINTS as Readonly<Record<string, string>>)[error];
    super(known === undefined ? error : `${error}: ${known}`, cause === undefined ? {} : { cause });
    this.error = error;
    this.status = status;
    this.hint = known;
    this.reason = reason;
    this.limit = limit;
    this.retryAfter = retryAfter;
  }
}

/** A fault that the client found itself. */
export function fault(word: ClientFault, parts: ErrorParts = {}): VaultClientError {
  return new VaultClientError(word, parts);
}
