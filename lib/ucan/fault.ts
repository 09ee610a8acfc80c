/** Why a token is refused. `large`, `malformed`, `signature`, `expired`, `early` say it of any link of the chain. */
export type UcanFaultWord =
  | 'large'
  | 'malformed'
  | 'signature'
  | 'expired'
  | 'early'
  /** A proof is named that the token does not bring along. */
  | 'missing'
  /** Nothing shows that the issuer may act for the subject. */
  | 'unproven'
  /** A link was made out to somebody else than the one who used it. */
  | 'audience'
  /** A link is about another subject. */
  | 'subject'
  /** More is asked for than was delegated. */
  | 'command'
  | 'policy';

/** Ends the reading or judging of a token; caught where a verdict is given, so it reaches no caller. */
export class UcanError extends Error {
  override readonly name = 'UcanError';
  readonly why: UcanFaultWord;

  constructor(why: UcanFaultWord, message: string) {
    super(message);
    this.why = why;
  }
}

/** Something that is not as the standard says; the message is for whoever made it. */
export function malformed(message: string): UcanError {
  return new UcanError('malformed', message);
}
