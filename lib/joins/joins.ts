// Mailboxes in which a new device leaves its public key for the owner of an account. The name of a mailbox is a digest
// of a secret that only the two devices have, and so is the code that the person compares.
import { HOUR_MS, MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import type { Row } from '../db/database.ts';
import { boundsOf, type LimitName } from '../limits/catalogue.ts';
import { limitReached, limitState } from '../limits/limits.ts';
import { sharingSite } from '../limits/networks.ts';
import type { Platform } from '../platform.ts';
import { insertJoin, type Join, type JoinKey, putJoinKey, selectJoin, selectJoinUse, toJoin } from './store.ts';

export type { Join, JoinKey } from './store.ts';

/** How long a mailbox is open. */
export const JOIN_MS = 10 * MINUTE_MS;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'metrics'>;

/**
 * Opens a mailbox for a key of `account`, and returns when it closes; opening it again changes nothing. Throws 409
 * `join_taken` for a name in use, 429 `rate_limited`.
 */
export async function openJoin(
  ctx: Ctx,
  { id, account, ip }: { readonly id: string; readonly account: string; readonly ip: string },
): Promise<number> {
  const { config, clock, db } = ctx;
  const now = clock.now();
  const network = sharingSite(config, ip) ?? null;
  const [perIp, perNetwork, inAll] = [maxOf('joins-per-ip'), maxOf('joins-per-network'), maxOf('joins-per-hour')];
  const results = await db.write(
    insertJoin({ id, account, ip, network, now, perIp, perNetwork, inAll }),
    selectJoinUse({ ip, network, now }),
    selectJoin(id, now - HOUR_MS),
  );
  const [use = {}, row] = [results[1]?.rows[0], results[2]?.rows[0]];
  if (row) {
    const join = toJoin(row);
    if (join.account !== account || join.key || join.openedAt <= now - JOIN_MS) throw new VaultError('join_taken');
    return join.openedAt + JOIN_MS;
  }
  if (Number(use['by_ip']) >= perIp) throw refused('joins-per-ip', ip, use['of_ip']);
  if (network !== null && Number(use['by_network']) >= perNetwork) {
    throw refused('joins-per-network', network, use['of_network']);
  }
  throw refused('joins-per-hour', '', use['of_all']);

  function maxOf(name: LimitName): number {
    return boundsOf(config, name).max;
  }

  function refused(name: LimitName, bucket: string, oldest: Row[string]): VaultError {
    const freesAt = Number(oldest ?? now) + HOUR_MS;
    return limitReached(ctx, limitState(config, name, { bucket, freesAt, now }));
  }
}

/** An open mailbox. Throws 404 `not_found` where there is none. */
export async function readJoin({ clock, db }: Pick<Ctx, 'clock' | 'db'>, id: string): Promise<Join> {
  const [row] = await db.read(selectJoin(id, clock.now() - JOIN_MS));
  if (!row) throw closed();
  return toJoin(row);
}

/**
 * Leaves a key in an open mailbox, once: the first one stays. Throws 404 `not_found`, 409 `join_taken` where another
 * key came first.
 */
export async function leaveKey({ clock, db }: Pick<Ctx, 'clock' | 'db'>, id: string, key: JoinKey): Promise<Join> {
  const since = clock.now() - JOIN_MS;
  const [put, found] = await db.write(putJoinKey(id, key, since), selectJoin(id, since));
  const row = found?.rows[0];
  if (!row) throw closed();
  if (put?.rowsAffected !== 1) throw new VaultError('join_taken');
  return toJoin(row);
}

function closed(): VaultError {
  return new VaultError('not_found', { hint: 'The link is good for 10 minutes: show a new one.' });
}
