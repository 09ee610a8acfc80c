import type * as v from 'valibot';
import type { ErrorCode } from '../../lib/base/error.ts';

/** Describes an operation for the document and for clients. Serving a request reads none of it. */
export interface Described<A extends Answers = Answers> {
  /** The effect of the operation, in one line. */
  readonly summary: string;
  /** By status; errors are not among them. */
  readonly answers: A;
  /** The errors beyond those that every operation of its kind can answer. */
  readonly errors?: readonly ErrorCode[];
  /** Members of the example's request beside its required fields, or in place of their samples. */
  readonly example?: Readonly<Record<string, unknown>>;
}

/** How an operation answers when nothing failed. */
export type Answers = Readonly<Record<number, Answer>>;

/** JSON of a schema, or a body of another kind. */
export type Answer = v.GenericSchema | Body;

/** A body other than the vault's own JSON: its media type, `null` for none, and its content. */
export interface Body {
  readonly media: string | null;
  /** Other types that the caller may ask for. */
  readonly otherMedia?: string | readonly string[];
  readonly about: string;
}

/**
 * The callers that may use an operation: the operator, a holder of a stream's token, a scraper of metrics, `vault
 * doctor`, or an app with an access token.
 */
export type Security = 'operator' | 'token' | 'metrics' | 'doctor' | 'access';
