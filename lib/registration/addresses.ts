import type { Row } from '../db/database.ts';
import { toAwaitedMove } from '../holders/holders.ts';
import type { ProvableChannel } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import type { SignIn } from './sign-in.ts';
import { type Held, selectAddresses, selectHeld } from './sign-in-store.ts';
import { movesAt } from './waiting.ts';

// For the batch of what depends on it.
export { isHeld } from './sign-in-store.ts';

/** An address that a person has registered. */
export interface OwnAddress {
  readonly identifier: string;
  readonly channel: ProvableChannel;
  /** `waiting`: another DID holds it until `movesAt`, at the earliest; `pending`: the chain has not confirmed it. */
  readonly state: 'held' | 'waiting' | 'pending';
  readonly movesAt: string | null;
}

/**
 * The addresses of the person who signed in, the oldest first: those that `readIdentity` shows, and those that are to
 * come.
 */
export async function readAddresses(
  { config, db }: Pick<Platform, 'config' | 'db'>,
  { did, account }: Pick<SignIn, 'did' | 'account'>,
): Promise<readonly OwnAddress[]> {
  const rows = await db.read(selectAddresses({ did, account }));
  const found = new Map<string, OwnAddress>();
  for (const row of rows) {
    const one = addressOf(config, row);
    // Another passkey of the account may have claimed the same address.
    const before = one && found.get(one.identifier);
    if (one && (!before || RANK[one.state] > RANK[before.state])) found.set(one.identifier, one);
  }
  return [...found.values()];
}

const RANK = { waiting: 0, pending: 1, held: 2 };

function addressOf(config: Platform['config'], row: Row): OwnAddress | undefined {
  const channel = row['channel'] as ProvableChannel;
  const own = { identifier: String(row['identifier']).slice(channel.length + 1), channel, movesAt: null };
  if (row['is_held'] === 1) return { ...own, state: 'held' };
  if (row['is_pending'] === 1) return { ...own, state: 'pending' };
  if (row['is_waiting'] !== 1) return undefined;
  return { ...own, state: 'waiting', movesAt: movesAt(config, toAwaitedMove(row)) };
}

/**
 * When a DID registered an address that it holds for good, by a final registration that its passkey signed for, in
 * milliseconds; undefined if it does not hold it.
 */
export async function heldSince({ db }: Pick<Platform, 'db'>, held: Held): Promise<number | undefined> {
  const [row] = await db.read(selectHeld(held));
  return row && Number(row['registered_at']);
}
