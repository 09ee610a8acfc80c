/** One error word: its HTTP status, and its texts for callers and operators. */
export interface ErrorWord {
  readonly status: number;
  /** The answer's hint, for a word that always has the same cause. */
  readonly hint?: string;
  /** The cause and the remedy in docs/troubleshooting.md. */
  readonly cause: string;
  readonly remedy: string;
}
