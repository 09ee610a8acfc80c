import type * as v from 'valibot';
import type { Answers } from './describe.ts';
import type { Fields } from './fields.ts';
import type { Route } from './route.ts';

/** The operations of a list of routes, by method and path, as a client calls them. */
export type OperationsOf<Rows extends readonly Route[]> = {
  readonly [R in Rows[number] as `${R['method']} ${R['path']}`]: {
    /** The members of the body, or the parameters of the query. */
    readonly input: R extends { readonly wire: infer Wire extends v.GenericSchema }
      ? v.InferInput<Wire>
      : InputOf<R['fields']> | (R['otherFields'] extends Fields ? InputOf<R['otherFields']> : never);
    /** The answer, of any of its statuses. */
    readonly answer: AnswerOf<R['answers']>;
  };
};

/** The request's members: the required ones, and those that may be absent or null. */
type InputOf<F extends Fields> = {
  readonly [K in keyof F as F[K]['required'] extends true ? K : never]: v.InferInput<F[K]['schema']>;
} & {
  readonly [K in keyof F as F[K]['required'] extends true ? never : K]?: v.InferInput<F[K]['schema']> | null;
};

type AnswerOf<A extends Answers> = {
  [Status in keyof A]: A[Status] extends v.GenericSchema ? v.InferOutput<A[Status]> : undefined;
}[keyof A];
