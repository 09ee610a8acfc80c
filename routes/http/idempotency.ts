import { badRequest } from '../../lib/base/error.ts';
import { acquireKey, type KeepChange, type ReplyToKeep } from '../../lib/idempotency/idempotency.ts';
import { erasureDigest } from '../../lib/identity/erasure.ts';
import type { Platform } from '../../lib/platform.ts';
import type { Reply } from './response.ts';

/** The longest `Idempotency-Key`. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255;

/**
 * How a route honours `Idempotency-Key`: the identifier that scopes it, in normal form, whether each client has its own
 * keys, and how long a reply is kept.
 */
export interface Idempotency<Input> {
  readonly scope: (input: Input, config: Platform['config']) => string;
  /** Whether the reply is only for the client that asked. */
  readonly byClient?: true;
  /** Milliseconds; 24 hours by default. */
  readonly keepMs?: (reply: Reply) => number;
}

/** Keeps the coming reply in the commit of the change that the handler makes. */
export type Keep = (reply: Reply) => KeepChange;

interface Attempt<Input> {
  readonly route: string;
  readonly key: string;
  readonly input: Input;
  readonly client: string;
  readonly owner: string;
  readonly idempotency: Idempotency<Input>;
}

/**
 * Runs a request at most once per key: a 2xx reply is kept and replayed with `Idempotent-Replayed: true`, any other
 * outcome releases the key. Throws 400 `Invalid Idempotency-Key`, 422 `idempotency_key_reused`, 409
 * `idempotency_key_in_use`.
 */
export async function withIdempotency<Input extends object>(
  ctx: Pick<Platform, 'config' | 'db' | 'clock' | 'log'>,
  { route, key, input, client, owner, idempotency }: Attempt<Input>,
  run: (keep: Keep) => Promise<Reply>,
): Promise<Reply> {
  if (key.length > IDEMPOTENCY_KEY_CHARS_MAX || !/^[\x21-\x7e]+$/.test(key))
    throw badRequest('Invalid Idempotency-Key');
  const identifier = idempotency.scope(input, ctx.config);
  const scope = idempotency.byClient ? `${identifier} ${client}` : identifier;
  const erasure = erasureDigest(ctx.config.vaultSecret, identifier);
  const acquired = await acquireKey(ctx, { route, scope, key, input, owner, erasure });
  if ('stored' in acquired) return { ...acquired.stored, headers: { 'idempotent-replayed': 'true' } };
  const { held } = acquired;
  const toKeep = (reply: Reply): ReplyToKeep => ({
    status: reply.status,
    body: typeof reply.body === 'string' ? reply.body : '',
    keepMs: idempotency.keepMs?.(reply),
  });
  let kept: ReplyToKeep | undefined;
  try {
    const reply = await run((coming) => held.keepWithChange(toKeep(coming)));
    if (reply.status < 300) kept = toKeep(reply);
    return reply;
  } finally {
    await held.end(kept);
  }
}
