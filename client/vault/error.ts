/** The client's own error words, and what to do. */
const HINTS = {
  unreachable: 'No answer. Try again.',
  unexpected_answer: 'No vault answers at this URL.',
  vault_too_old: 'The vault is older than this client. Load its own client.js.',
  not_loaded: 'A part of the client did not load. Does your CSP allow it?',
  no_operator_secret: 'Give createClient the operatorSecret.',
  cancelled: 'Cancelled. Nothing was registered or paid.',
  passkeys_unavailable: 'No passkeys here. Open the page over https, in the browser itself, in no frame.',
  passkey_refused:
    'The person refused, waited too long, or lost the passkey. Ask again, or with restart if it is lost.',
  passkey_unsupported: 'This device cannot make ES256 passkeys with a PIN or biometrics.',
  not_offered: 'This vault does not offer it.',
  not_confirmed_yet: 'It is on its way. Look again later.',
  registration_failed: 'The chain refused it. Register again.',
  not_paid_yet: 'The page ended without an answer. Ask again with the same id.',
  payment_blocked: 'The browser opened no window. Call it from a click.',
  not_approved: 'The page ended without an answer. Ask again.',
  approval_blocked: 'The browser opened no window. Call it from a click.',
} as const;

/** The error words of the client itself. */
export type ClientFault = keyof typeof HINTS | 'rp_id_refused' | 'not_registered' | 'operation_refused';

/** The vault's answer beside its error word. */
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
  /** Scripts loaded on demand have a class of their own, so the name decides, not the class. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return (error as Error | undefined)?.name === 'VaultClientError';
  }

  override readonly name = 'VaultClientError';
  /** The vault's word, such as `rate_limited`, or one of the client's. */
  declare readonly error: string;
  /** The HTTP status; 0 if there was no answer. */
  declare readonly status: number;
  /** One sentence that says what to do. */
  declare readonly hint: string | undefined;
  /** The cause, where one word has several. */
  declare readonly reason: string | undefined;
  /** The limit that refused. */
  declare readonly limit: string | undefined;
  /** Seconds until it can succeed. */
  declare readonly retryAfter: number | undefined;

  constructor(error: string, { status = 0, cause, ...said }: ErrorParts = {}) {
    const hint = said.hint ?? (HINTS as Readonly<Record<string, string>>)[error];
    super(hint ? `${error}: ${hint}` : error, cause === undefined ? {} : { cause });
    Object.assign(this, said, { error, status, hint });
  }
}

/** A fault that the client found itself. */
export function fault(word: ClientFault, parts: ErrorParts = {}): VaultClientError {
  return new VaultClientError(word, parts);
}

/** Whether it may be another thing in a moment: no answer, too many requests, a vault or a proxy in trouble. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof VaultClientError)) return false;
  const { status } = error;
  return error.error === 'unreachable' || status === 429 || status >= 500;
}

/** Waits for a file that is loaded on demand. Throws `not_loaded`. */
export function loadPart<T>(part: Promise<T>): Promise<T> {
  return part.catch((cause) => {
    throw fault('not_loaded', { cause });
  });
}

/** Undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
