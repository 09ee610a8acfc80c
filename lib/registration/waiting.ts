import { HOUR_MS, isoTime } from '../base/clock.ts';
import { type AwaitedMove, selectAwaitedMove, toAwaitedMove } from '../holders/holders.ts';
import type { Identifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';

type Ctx = Pick<Platform, 'config' | 'db'>;

/** When an address moves to a claim that waits for it, at the earliest. */
export function movesAt({ addressMoveHours }: Pick<Ctx['config'], 'addressMoveHours'>, move: AwaitedMove): string {
  return isoTime(move.movesAt ?? move.registeredAt + addressMoveHours * HOUR_MS);
}

/** When an address moves to a DID that has claimed it, at the earliest; undefined where nobody else holds it. */
export async function readMovesAt(ctx: Ctx, { channel, key }: Identifier, did: string): Promise<string | undefined> {
  if (channel === 'handle') return undefined;
  const [row] = await ctx.db.read(selectAwaitedMove({ identifier: key, did }));
  return row && movesAt(ctx.config, toAwaitedMove(row));
}
