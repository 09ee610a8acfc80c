import { aliasHash } from './alias.ts';
import type { Context } from './context.ts';
import type { Statement } from './db/database.ts';
import { insertSession, selectRefusal, selectSessionCounts } from './db/sessions.ts';
import { didHash } from './did.ts';
import { VaultError } from './error.ts';
import type { Identifier } from './identifier.ts';
import { ipLimitReached } from './limits.ts';
import { isReserved } from './reserved.ts';

type Services = Pick<Context, 'config' | 'clock' | 'db' | 'metrics'>;

/**
 * Opens a registration session: reserved, duplicate and per-IP limit are judged in this order, the last two by the statement that writes.
 * `also` follows it in the same commit. Throws 409 `identifier_reserved`, 409 `identifier_taken`, 429 `ip_limit_reached`.
 */
export async function openSession(
  vault: Services,
  { identifier, did, ip }: { identifier: Identifier; did: string; ip: string },
  also: readonly Statement[] = [],
): Promise<void> {
  const { config, clock, db } = vault;
  if (isReserved(identifier, config)) throw new VaultError('identifier_reserved');
  const now = clock.now();
  const session = {
    identifier: identifier.key,
    did,
    aliasHash: aliasHash(identifier.value),
    didHash: didHash(did),
    ip,
    now,
    expiresAt: now + config.sessionTtlSeconds * 1000,
    perIp: config.maxRegistrationsPerIp,
  };
  const results = await db.write(insertSession(session), ...also, selectRefusal(session));
  if (results[0]?.rowsAffected === 1) return;
  const row = results.at(-1)?.rows[0];
  if (row?.['taken'] === 1) throw new VaultError('identifier_taken');
  throw ipLimitReached(vault, (row?.['earliest_lapse'] ?? null) as number | null, now);
}

/** Live sessions of the client and of everyone. */
export async function countSessions(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  ip: string,
): Promise<{ byIp: number; total: number }> {
  const [row] = await db.read(selectSessionCounts(ip, clock.now()));
  return { byIp: Number(row?.['by_ip'] ?? 0), total: Number(row?.['total'] ?? 0) };
}
