import { findDeployment } from '../chain/blocks.ts';
import { findGuardedAccount } from '../chain/guarded-account.ts';
import { readNamedGuardians } from '../chain/guardian-sets.ts';
import { type BlockRange, LOG_RANGE_BLOCKS_MAX } from '../chain/log-range.ts';
import { findAddress } from './address.ts';
import { dropUnknown, noteGuarded } from './address-store.ts';
import type { ChainView, GuardianContext } from './context.ts';
import { movePosition, positionIn, selectPositions } from './watch-store.ts';

/** Ranges of blocks that one turn reads: recoveries are followed between two turns. */
const RANGES_MAX = 5;
/** Addresses whose code is asked for at once: it fits one answer of the node. */
const ASKED_MAX = 25;

/**
 * Finds the accounts that name this guardian, or a former one of this vault, by the events of the chain from the
 * factory's block on, with or without a request for a commitment. An event proves nothing else: whether an account is
 * ours, and whom it names now, is asked of the account. True if there is more to read now. Throws 502 `rpc_error`.
 */
export async function scanGuarded(
  ctx: GuardianContext,
  { head, finalNumber, guardian, guardians }: ChainView,
  range: BlockRange,
): Promise<boolean> {
  const { config, db, log } = ctx;
  const key = { chainId: config.chainId, guardian };
  const { scanned } = positionIn(await db.read(selectPositions(config.chainId)), guardian, head.number);
  let from = scanned < 0 ? await findStart(ctx, head.number) : scanned + 1;
  const skipped = (tx: string) => log({ level: 'warn', event: 'guardian_scan_skipped', tx });
  for (let i = 0; i < RANGES_MAX && from <= head.number; i++) {
    const { to, accounts } = await readNamedGuardians(ctx, guardians, { from, head: head.number, range }, skipped);
    for (let n = 0; n < accounts.length; n += ASKED_MAX)
      await Promise.all(accounts.slice(n, n + ASKED_MAX).map((account) => noteIfGuarded(ctx, account, guardians)));
    await db.write(...movePosition(key, 'scan', { block: Math.min(to, finalNumber), head: head.number }));
    from = to + 1;
  }
  return from <= head.number;
}

/** A chain that fits one range needs no search. A node without old states does not tell the factory's block. */
async function findStart(ctx: GuardianContext, head: number): Promise<number> {
  const { followerStartBlock, accountFactory2Address: factory } = ctx.config;
  if (head < LOG_RANGE_BLOCKS_MAX || factory === null) return 0;
  return (await findDeployment(ctx, [factory], head)) || (followerStartBlock ?? 0);
}

async function noteIfGuarded(ctx: GuardianContext, account: string, guardians: readonly string[]): Promise<void> {
  const { config, db, clock } = ctx;
  const found = await findGuardedAccount(ctx, account);
  if (typeof found === 'string' || !guardians.includes(found.guardian)) return;
  const { commitment } = found;
  const identifier = (await findAddress(ctx, account, commitment)) ?? '';
  const address = { chainId: config.chainId, account, commitment, identifier };
  await db.write(noteGuarded(address, clock.now()), dropUnknown(address));
}
