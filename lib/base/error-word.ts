/** One error word: its HTTP status, and what callers and operators read about it. */
export interface ErrorWord {
  readonly status: number;
  /** What the answer says to do, for a word that always has the same cause. */
  readonly hint?: string;
  /** Why it is answered, and what to do, for docs/troubleshooting.md. */
  readonly cause: string;
  readonly remedy: string;
}
