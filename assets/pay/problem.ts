// The page's view of an error: a function of the error.

import { FeeBoundError } from '../../client/wallet/send.ts';
import type { RefusedError } from '../../client/wallet/vault.ts';
import { NoRequestError } from '../wallet/opener.ts';
import { EndedError, OtherTermsError } from './pay.ts';
import { RequestError } from './request.ts';
import { isNamed } from './view.ts';
import type { Problem } from './words.ts';

/** The view of an error. */
export interface ProblemView {
  readonly of: Problem;
  /** Whether trying again can help. */
  readonly canRetry: boolean;
  /** Stands folded below the words. */
  readonly detail?: string;
}

/** The problem that a step's error is. */
export function problemOf(error: unknown): ProblemView {
  if (error instanceof RequestError) return final(error.fault);
  if (error instanceof NoRequestError) return final('no_request');
  if (error instanceof EndedError) return final(error.message === 'ending' ? 'ending' : 'expired');
  if (error instanceof OtherTermsError) return final('other_terms');
  if (error instanceof FeeBoundError) return passing('fee_bound', error.message);
  for (const [name, of] of PASSING) if (isNamed(error, name)) return passing(of);
  if (!isNamed(error, 'RefusedError')) return final('unexpected');
  const { aa, message } = error as RefusedError;
  return passing(aa === 'AA25' ? 'used' : 'refused', message);
}

/** Errors of classes that the page has twice. */
const PASSING = [
  ['MemoryError', 'no_memory'],
  ['UnreachableError', 'down'],
  ['NoAccountError', 'no_key'],
] as const;

function final(of: Problem): ProblemView {
  return { of, canRetry: false };
}

function passing(of: Problem, detail?: string): ProblemView {
  return { of, canRetry: true, ...(detail === undefined ? {} : { detail }) };
}
