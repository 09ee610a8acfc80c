/**
 * Why a token is refused. `large`, `malformed`, `signature`, `expired` and `early` may concern any token of the chain.
 */
export type UcanFault =
  | 'large'
  | 'malformed'
  | 'signature'
  | 'expired'
  | 'early'
  /** A delegation that the invocation names is not in the text. */
  | 'missing'
  /** The issuer is not the subject, and no delegation of the subject leads to it. */
  | 'unproven'
  /** A token was issued to another audience than the one that used it. */
  | 'audience'
  /** A delegation is about another subject. */
  | 'subject'
  /** The command was not delegated. */
  | 'command'
  /** The arguments do not satisfy a delegation's policy. */
  | 'policy';

/** A refused token. Caught by `verifyInvocation` and `inspectToken`. */
export class UcanError extends Error {
  override readonly name = 'UcanError';
  readonly why: UcanFault;

  constructor(why: UcanFault, message: string) {
    super(message);
    this.why = why;
  }
}

/** A `UcanError` for a token that does not follow the standard; the message is for its author. */
export function malformed(message: string): UcanError {
  return new UcanError('malformed', message);
}
