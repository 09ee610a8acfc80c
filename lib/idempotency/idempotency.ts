import { sha256 } from '@noble/hashes/sha2.js';
import { toHex, utf8 } from '../base/bytes.ts';
import { DAY_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import type { Statement } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { type KeyUse, keepAnswer, releaseKey, selectKey, takeKey, toKeyState } from './store.ts';

/** How long an answer is kept for its key. */
export const IDEMPOTENCY_KEEP_MS = DAY_MS;

/** A request under an `Idempotency-Key`, scoped to its route and `scope`; `owner` is the attempt's own id. */
export interface KeyedRequest {
  readonly route: string;
  readonly scope: string;
  readonly key: string;
  readonly input: object;
  readonly owner: string;
  /** The digest under which an erasure of the identifier is noted. */
  readonly erasure: string;
}

/** A reply as it is replayed. */
export interface StoredReply {
  readonly status: number;
  readonly body: string;
}

/** A reply to keep for so many milliseconds, 24 hours by default. */
export interface ReplyToKeep extends StoredReply {
  readonly keepMs?: number | undefined;
}

/** A change that a service commits together with its own. */
export type KeepChange = Statement;

/** A key that this attempt holds. */
export interface HeldKey {
  /** Keeps the reply in the commit of the change before it, if that changed a row: then no crash can part the two. */
  keepWithChange(reply: ReplyToKeep): KeepChange;
  /** Keeps the reply; without one, releases the key. A failure is logged, and the key's lease then lapses by itself. */
  end(reply: ReplyToKeep | undefined): Promise<void>;
}

/**
 * Takes the key, or finds the reply that is kept under it. Throws 422 `idempotency_key_reused` when it was another
 * request's, and 409 `idempotency_key_in_use` while another attempt holds it.
 */
export async function acquireKey(
  { db, clock, log }: Pick<Platform, 'db' | 'clock' | 'log'>,
  { route, scope, key, input, owner, erasure }: KeyedRequest,
): Promise<{ readonly held: HeldKey } | { readonly stored: StoredReply }> {
  // Digests, so that the table holds no bodies of refused requests and keys of one length.
  const use: KeyUse = {
    key: digest([route, scope, key]),
    request: digest([scope, { ...input, identifier: undefined }]),
    owner,
    erasure,
    now: clock.now(),
  };
  const [, selected] = await db.write(takeKey(use), selectKey(use));
  const state = toKeyState(selected?.rows[0] ?? {});
  if (state.owner !== owner) return { stored: storedReply(state, use) };
  const keep = ({ status, body, keepMs = IDEMPOTENCY_KEEP_MS }: ReplyToKeep, condition: { ifChanged: boolean }) =>
    keepAnswer(use, { status, body, expiresAt: clock.now() + keepMs, erasedAt: state.erasedAt }, condition);
  return {
    held: {
      keepWithChange: (reply) => keep(reply, { ifChanged: true }),
      async end(reply) {
        const kept = reply ? [keep(reply, { ifChanged: false })] : [];
        const release = releaseKey(use, { ifUnkept: reply !== undefined });
        // The work is done: a reply that cannot be kept is still sent.
        await db
          .write(...kept, release)
          .catch((error) => log({ level: 'warn', event: 'idempotency', ...describeError(error) }));
      },
    },
  };
}

function storedReply({ request, answer }: ReturnType<typeof toKeyState>, use: KeyUse): StoredReply {
  if (request !== use.request) throw new VaultError('idempotency_key_reused');
  if (!answer) throw new VaultError('idempotency_key_in_use', { retryAfterSeconds: 1 });
  return answer;
}

function digest(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return toHex(sha256(utf8(text)));
}
