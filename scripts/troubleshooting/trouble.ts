import type { ErrorCode } from '../../lib/base/error.ts';

/** Why a word is answered, and what to do. */
export interface Trouble {
  readonly cause: string;
  readonly remedy: string;
}

/** Those of some words. */
export type Troubles = Readonly<Partial<Record<ErrorCode, Trouble>>>;
