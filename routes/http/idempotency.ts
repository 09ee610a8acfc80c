import { badRequest } from '../../lib/base/error.ts';
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../lib/constants.ts';
import { acquireKey, type KeepChange, type ReplyToKeep } from '../../lib/idempotency/idempotency.ts';
import type { Platform } from '../../lib/platform.ts';
import type { Answer } from './answer.ts';

/** How a route honours `Idempotency-Key`: the identifier it is scoped to, in normal form, and how long an answer is kept (24 hours unless said). */
export interface Idempotency<Input> {
  readonly scope: (input: Input) => string;
  readonly keepMs?: (answer: Answer) => number;
}

/** Keeps the coming answer in the commit of the change that the handler makes. */
export type Keep = (answer: Answer) => KeepChange;

interface Attempt<Input> {
  readonly route: string;
  readonly key: string;
  readonly input: Input;
  readonly owner: string;
  readonly idempotency: Idempotency<Input>;
}

/**
 * Runs a request at most once per key: a 2xx answer is kept and replayed with `Idempotent-Replayed: true`, any other outcome releases the key.
 * Throws 400 `Invalid Idempotency-Key`, 422 `idempotency_key_reused`, 409 `idempotency_key_in_use`.
 */
export async function withIdempotency<Input extends object>(
  vault: Pick<Platform, 'db' | 'clock' | 'log'>,
  { route, key, input, owner, idempotency }: Attempt<Input>,
  run: (keep: Keep) => Promise<Answer>,
): Promise<Answer> {
  if (key.length > IDEMPOTENCY_KEY_CHARS_MAX || !/^[\x21-\x7e]+$/.test(key))
    throw badRequest('Invalid Idempotency-Key');
  const scope = idempotency.scope(input);
  const acquired = await acquireKey(vault, { route, scope, key, input, owner });
  if ('stored' in acquired) return { ...acquired.stored, headers: { 'idempotent-replayed': 'true' } };
  const { held } = acquired;
  const toKeep = (answer: Answer): ReplyToKeep => ({
    status: answer.status,
    body: typeof answer.body === 'string' ? answer.body : '',
    keepMs: idempotency.keepMs?.(answer),
  });
  let kept: ReplyToKeep | undefined;
  try {
    const answer = await run((coming) => held.keepWithChange(toKeep(coming)));
    if (answer.status < 300) kept = toKeep(answer);
    return answer;
  } finally {
    await held.end(kept);
  }
}
