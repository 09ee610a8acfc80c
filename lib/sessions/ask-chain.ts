import type { Aliases } from '../aliases/aliases.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import type { Platform } from '../platform.ts';
import {
  ASKS,
  type AskedSession,
  endAskedSession,
  leaseDueSessions,
  linkAskedSession,
  recheckContradicted,
  unlinkAskedSession,
} from './link-store.ts';

/** The first pause until the chain is asked about a session; each one after is twice as long, up to the longest. */
export const SESSION_ASK_MIN_MS = 15_000;
/** Sessions of one turn, and the pause between two turns: together they bound the questions to the node in a day. */
const SESSION_ASK_BATCH_MAX = 50;
export const SESSION_ASK_PAUSE_MS = 30_000;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'log'> & { readonly aliases: Aliases };

/**
 * The task that asks the chain about the sessions of handles: linked while the alias leads to their DID, ended once it
 * leads to another one for good. It asks until one of these is final, or the session lapses.
 */
export function createSessionAsker(): (ctx: Ctx) => Promise<boolean> {
  let dueAt = 0;
  return async (ctx) => {
    const now = ctx.clock.monotonic();
    if (now < dueAt) return false;
    dueAt = now + SESSION_ASK_PAUSE_MS;
    await askAboutSessions(ctx, ctx.clock.now());
    return false;
  };
}

async function askAboutSessions(ctx: Ctx, now: number): Promise<void> {
  const { db, log } = ctx;
  if ((await db.read(ASKS.any(now))).length === 0) return;
  const [leased] = await db.write(leaseDueSessions(now, 2 * SESSION_ASK_MIN_MS, SESSION_ASK_BATCH_MAX));
  const due = (leased?.rows ?? []).map(
    (row): AskedSession => ({
      identifier: String(row['identifier']),
      aliasHash: String(row['alias_hash']),
      didHash: String(row['did_hash']),
      linked: row['linked'] === 1,
      askAt: Number(row['ask_at']),
    }),
  );
  const failure = worstFailure(await Promise.allSettled(due.map((session) => askAbout(ctx, session))));
  if (!failure) return;
  // They are due again by the lease.
  if (!(failure instanceof VaultError) || failure.code !== 'rpc_error') throw failure;
  log({ level: 'warn', event: 'chain_unreadable', sessions: due.length, ...describeError(failure) });
}

async function askAbout({ aliases, clock, config, db }: Ctx, session: AskedSession): Promise<void> {
  const { lead, isFinal } = await aliases.findFinal(session);
  const now = clock.now();
  if (lead === 'own') {
    const others = isFinal ? [recheckContradicted(session, now)] : [];
    await db.write(...linkAskedSession(session, isFinal, now), ...others);
  }
  if (lead === 'elsewhere' && isFinal) await db.write(...endAskedSession(session, now));
  else if (lead === 'none' && session.linked) {
    await db.write(...unlinkAskedSession(session, now + config.sessionTtlSeconds * 1000, now));
  }
}
