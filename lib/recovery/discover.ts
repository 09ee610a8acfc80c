import { readFinalBlock } from '../chain/finality.ts';
import { type GuardedAccount, isUnchanged, readGuardedAccount } from '../chain/guarded-account.ts';
import { isRangeRefused } from '../chain/log-range.ts';
import { readBlockNumber } from '../chain/receipts.ts';
import { type RecoveryEvent, readProposals } from '../chain/recovery-events.ts';
import { findAddress } from './address.ts';
import { recallAddresses, selectGuarded } from './address-store.ts';
import { insertForeign, reopenRecovery } from './change-store.ts';
import type { ChainView, GuardianContext } from './context.ts';
import { NO_LABEL, selectByNumber, selectOpen, toRecovery } from './store.ts';
import { guardiansIn, movePosition, positionIn, selectPositions } from './watch-store.ts';

/** The accounts of one request for events. */
const ACCOUNTS_ASKED_MAX = 500;
/** How far before the final block a proposal of an unknown block is looked for. */
const RECENT_BLOCKS = 2_000;

/**
 * Finds proposals of the guardian, and of former ones, that this vault did not make, on the accounts that it knows it
 * guards: another copy of the key did. Each is written down, so that its mails go out, and raises an event. Other
 * addresses are not asked, as anybody's contract can emit such an event, and many. Throws 502 `rpc_error`.
 */
export async function findForeign(
  ctx: GuardianContext,
  { head, finalNumber, guardian, guardians }: ChainView,
): Promise<void> {
  const { config, db } = ctx;
  const { proposals } = positionIn(await db.read(selectPositions(config.chainId)), guardian, head.number);
  const range = { from: proposals < 0 ? finalNumber + 1 : proposals + 1, to: head.number };
  for (let after = ''; ; ) {
    const rows = await db.read(selectGuarded(config.chainId, after, ACCOUNTS_ASKED_MAX));
    const accounts = rows.map(({ account }) => String(account));
    const events = await readAll(ctx, guardians, accounts, range);
    for (const one of new Set(events.map(({ account }) => account)))
      await noteForeign(
        ctx,
        one,
        events.filter(({ account }) => account === one),
      );
    const last = accounts.at(-1);
    if (last === undefined || accounts.length < ACCOUNTS_ASKED_MAX) break;
    after = last;
  }
  const read = { block: finalNumber, head: head.number };
  await db.write(...movePosition({ chainId: config.chainId, guardian }, 'proposals', read));
}

/**
 * Reads all accounts together; where the node refuses that, in halves. An account whose owners replaced its code may
 * emit so much that no node answers it: it is looked at again, and hides no other.
 */
async function readAll(
  ctx: GuardianContext,
  guardians: readonly string[],
  accounts: readonly string[],
  range: { readonly from: number; readonly to: number },
): Promise<readonly RecoveryEvent[]> {
  if (accounts.length === 0 || range.from > range.to) return [];
  try {
    return await readProposals(ctx, guardians, accounts, range);
  } catch (failure) {
    if (!isRangeRefused(failure)) throw failure;
    const [account = ''] = accounts;
    if (accounts.length === 1 && (await isUnchanged(ctx, account))) throw failure;
    if (accounts.length === 1) {
      await ctx.db.write(recallAddresses(ctx.config.chainId, account, ctx.clock.now()));
      return [];
    }
    const half = accounts.length >> 1;
    const halves = [accounts.slice(0, half), accounts.slice(half)];
    const found: RecoveryEvent[] = [];
    for (const some of halves) found.push(...(await readAll(ctx, guardians, some, range)));
    return found;
  }
}

/** The guardian, and those that this vault had before; lower-case. */
export async function readGuardians({ config, db, guardian }: GuardianContext): Promise<readonly string[]> {
  return guardiansIn(await db.read(selectPositions(config.chainId)), await guardian.relay.address());
}

/**
 * An account whose owners replaced its code may emit any events, and many, also where they have put the factory's
 * back since: one is noted, the pending one or else the newest. A thief's is pending for three days at least.
 */
async function noteForeign(ctx: GuardianContext, account: string, events: readonly RecoveryEvent[]): Promise<void> {
  const { config, db } = ctx;
  const guarded = await readGuardedAccount(ctx, account);
  if (!guarded) return;
  const event = events.findLast(({ id }) => id === guarded.recovery?.id) ?? events.at(-1);
  if (!event?.proposal) return;
  const { id, block, proposal } = event;
  const [known] = await db.read(selectByNumber(config.chainId, account, id));
  if (!known) await writeForeign(ctx, { account, id, ...proposal }, guarded, { readBlock: block - 1 });
}

/**
 * Stores the recovery that is pending on an account, if this guardian or a former one proposed it and the database does
 * not know it: the database is an old copy, or another copy of the key is in use. Its mails go out then, and it can be
 * withdrawn and vetoed. Throws 502 `rpc_error`.
 */
export async function notePending(ctx: GuardianContext, account: string, guarded: GuardedAccount): Promise<void> {
  const { config, db } = ctx;
  const { recovery: pending, guardian } = guarded;
  if (!pending || !(await readGuardians(ctx)).includes(guardian)) return;
  // One that ended as its code was another: it is ours again.
  await db.write(reopenRecovery(config.chainId, account, pending.id, ctx.clock.now()));
  const open = (await db.read(selectOpen(config.chainId, account))).map(toRecovery);
  if (open.some(({ keyX, keyY }) => keyX === pending.x && keyY === pending.y)) return;
  const [head, finalNumber] = await Promise.all([readBlockNumber(ctx), readFinalBlock(ctx)]);
  const readBlock = Math.max(0, finalNumber);
  const recent = { from: Math.max(0, readBlock - RECENT_BLOCKS), to: head };
  const event = (await readProposals(ctx, [guardian], [account], recent)).findLast(({ id }) => id === pending.id);
  if (event) return noteForeign(ctx, account, [event]);
  // Its block is long final, and is not looked for: the account says all that is needed.
  await writeForeign(ctx, { account, ...pending }, guarded, { readBlock, readyAt: pending.readyAt * 1000 });
}

async function writeForeign(
  ctx: GuardianContext,
  { account, id, x, y }: { readonly account: string; readonly id: number; readonly x: string; readonly y: string },
  { commitment }: GuardedAccount,
  from: { readonly readBlock: number; readonly readyAt?: number },
): Promise<void> {
  const { config, db, clock, metrics, log } = ctx;
  const recovery = {
    app: 'default',
    chainId: config.chainId,
    account,
    keyX: x,
    keyY: y,
    label: NO_LABEL,
    commitment,
    identifier: await findAddress(ctx, account, commitment),
    readBlock: from.readBlock,
    now: clock.now(),
  };
  const [found] = await db.write(...insertForeign(recovery, id, from.readyAt));
  if (found?.rowsAffected !== 1) return;
  metrics.counter('vault_recoveries_foreign_total').add({});
  log({ level: 'error', event: 'guardian_key_used_elsewhere', account, recovery: id });
}
