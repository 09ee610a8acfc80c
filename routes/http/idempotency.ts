import { sha256 } from '@noble/hashes/sha2.js';
import { toHex, utf8 } from '../../lib/base/bytes.ts';
import { badRequest, VaultError } from '../../lib/base/error.ts';
import { describeError } from '../../lib/base/log.ts';
import { IDEMPOTENCY_KEEP_MS, IDEMPOTENCY_KEY_CHARS_MAX } from '../../lib/constants.ts';
import type { Context } from '../../lib/context.ts';
import type { Statement } from '../../lib/db/database.ts';
import { type KeyUse, keepAnswer, releaseKey, selectKey, takeKey, toKeyState } from '../../lib/idempotency/store.ts';
import type { Answer } from './answer.ts';

/** How a route honours `Idempotency-Key`: the identifier it is scoped to, in normal form, and how long an answer is kept (24 hours unless said). */
export interface Idempotency<Input> {
  readonly scope: (input: Input) => string;
  readonly keepMs?: (answer: Answer) => number;
}

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
export async function withIdempotency<Input>(
  { db, clock, log }: Pick<Context, 'db' | 'clock' | 'log'>,
  { route, key, input, owner, idempotency }: Attempt<Input>,
  run: (keep: Keep) => Promise<Answer>,
): Promise<Answer> {
  if (key.length > IDEMPOTENCY_KEY_CHARS_MAX || !/^[\x21-\x7e]+$/.test(key))
    throw badRequest('Invalid Idempotency-Key');
  const scope = idempotency.scope(input);
  // Digests, so that the table holds no bodies of refused requests and keys of one length.
  const use: KeyUse = {
    key: digest([route, scope, key]),
    request: digest([scope, { ...input, identifier: undefined }]),
    owner,
    now: clock.now(),
  };
  const [, selected] = await db.write(takeKey(use), selectKey(use.key));
  const state = toKeyState(selected?.rows[0] ?? {});
  if (state.owner !== owner) return replay(state, use);
  const kept = (answer: Answer) => {
    const keepMs = idempotency.keepMs?.(answer) ?? IDEMPOTENCY_KEEP_MS;
    return {
      status: answer.status,
      body: typeof answer.body === 'string' ? answer.body : '',
      expiresAt: clock.now() + keepMs,
    };
  };
  let statement = releaseKey(use);
  try {
    const answer = await run((coming) => keepAnswer(use, kept(coming), { ifChanged: true }));
    if (answer.status < 300) statement = keepAnswer(use, kept(answer), { ifChanged: false });
    return answer;
  } finally {
    // The work is done: an answer that cannot be kept is still given, and the key's lease lapses by itself.
    await db.write(statement).catch((error) => log({ level: 'warn', event: 'idempotency', ...describeError(error) }));
  }
}

/** A statement that keeps the coming answer in the same commit as the change, if the statement before it changed a row: then no crash can part the two. */
export type Keep = (answer: Answer) => Statement;

function replay(state: ReturnType<typeof toKeyState>, use: KeyUse): Answer {
  if (state.request !== use.request) throw new VaultError('idempotency_key_reused');
  if (!state.answer) throw new VaultError('idempotency_key_in_use', { retryAfterSeconds: 1 });
  const { status, body } = state.answer;
  return { status, body, headers: { 'idempotent-replayed': 'true' } };
}

function digest(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return toHex(sha256(utf8(text)));
}
