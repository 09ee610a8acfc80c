import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import { describeError } from '../base/log.ts';
import { readFinalBlock } from '../chain/finality.ts';
import { type GuardedAccount, readGuardedAccount } from '../chain/guarded-account.ts';
import { readBlockNumber } from '../chain/receipts.ts';
import { type RecoveryEvent, readProposals } from '../chain/recovery-events.ts';
import { rpcErrorOf } from '../chain/rpc.ts';
import { addressesOfAccount } from '../registration/accounts.ts';
import {
  dropAddress,
  keepAddress,
  selectAddress,
  selectAddressesDue,
  selectGuarded,
  toAddress,
} from './address-store.ts';
import { insertForeign } from './change-store.ts';
import type { ChainView, GuardianContext } from './context.ts';
import { moveCursor, NO_LABEL, selectByNumber, selectCursor, selectOpen, toRecovery } from './store.ts';

/** The accounts of one request for events. */
const ACCOUNTS_ASKED_MAX = 500;
/** How often it is asked whether an account still has the commitment that names an address. */
const ADDRESS_CHECK_MS = 30 * DAY_MS;
const ADDRESSES_MAX = 20;
/** How far before the final block a proposal is looked for whose block is not known. */
const RECENT_BLOCKS = 2_000;

/**
 * Finds proposals of the guardian that this vault did not make, on the accounts that it knows it guards: another copy
 * of its key did. Each is written down, so that its mails go out, and raises an event. Other addresses are not asked,
 * as anybody's contract can emit such an event, and many. Throws 502 `rpc_error`.
 */
export async function findForeign(ctx: GuardianContext, { head, finalNumber, guardian }: ChainView): Promise<void> {
  const { config, db } = ctx;
  const [row] = await db.read(selectCursor(config.chainId, guardian));
  const range = { from: row ? Number(row['block']) + 1 : finalNumber + 1, to: head.number };
  for (let after = ''; ; ) {
    const rows = await db.read(selectGuarded(config.chainId, after, ACCOUNTS_ASKED_MAX));
    const accounts = rows.map(({ account }) => String(account));
    for (const event of await readAll(ctx, guardian, accounts, range)) await noteForeign(ctx, event);
    const last = accounts.at(-1);
    if (last === undefined || accounts.length < ACCOUNTS_ASKED_MAX) break;
    after = last;
  }
  await db.write(moveCursor(config.chainId, guardian, finalNumber));
}

/** All together; where the node refuses that, one by one, so that an account that emits too much hides no other. */
async function readAll(
  ctx: GuardianContext,
  guardian: string,
  accounts: readonly string[],
  range: { readonly from: number; readonly to: number },
): Promise<readonly RecoveryEvent[]> {
  if (accounts.length === 0 || range.from > range.to) return [];
  try {
    return await readProposals(ctx, guardian, accounts, range);
  } catch (failure) {
    if (!rpcErrorOf(failure)) throw failure;
    const found: RecoveryEvent[] = [];
    for (const account of accounts) {
      const events = await readProposals(ctx, guardian, [account], range).catch((error) => {
        if (!rpcErrorOf(error)) throw error;
        ctx.log({ level: 'warn', event: 'guardian_watch_blinded', account, ...describeError(error) });
        return [];
      });
      found.push(...events);
    }
    return found;
  }
}

async function noteForeign(ctx: GuardianContext, { account, id, block, proposal }: RecoveryEvent): Promise<void> {
  const { config, db } = ctx;
  if (!proposal) return;
  const [known] = await db.read(selectByNumber(config.chainId, account, id));
  const guarded = known ? undefined : await readGuardedAccount(ctx, account);
  if (guarded) await writeForeign(ctx, { account, id, ...proposal }, guarded, { readBlock: block - 1 });
}

/**
 * Writes down what is pending on an account, if this guardian proposed it and the database does not know it: the
 * database is an old copy, or another copy of the key is in use. Its mails go out then, and it can be withdrawn and
 * vetoed. Throws 502 `rpc_error`.
 */
export async function notePending(ctx: GuardianContext, account: string, guarded: GuardedAccount): Promise<void> {
  const { config, db } = ctx;
  const { recovery: pending, guardian } = guarded;
  if (!pending || guardian !== (await ctx.guardian.relay.address())) return;
  const open = (await db.read(selectOpen(config.chainId, account))).map(toRecovery);
  if (open.some(({ keyX, keyY }) => keyX === pending.x && keyY === pending.y)) return;
  const [head, finalNumber] = await Promise.all([readBlockNumber(ctx), readFinalBlock(ctx)]);
  const readBlock = Math.max(0, finalNumber);
  const recent = { from: Math.max(0, readBlock - RECENT_BLOCKS), to: head };
  const event = (await readProposals(ctx, guardian, [account], recent)).findLast(({ id }) => id === pending.id);
  if (event) return noteForeign(ctx, event);
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

/** The address that a commitment names: as it was noted when the commitment was made, else by a registration. */
export async function findAddress(ctx: GuardianContext, account: string, commitment: string): Promise<string | null> {
  const { config, db, guardian } = ctx;
  const [row] = await db.read(selectAddress({ chainId: config.chainId, account, commitment }));
  if (row) return String(row['identifier']);
  const registered = await addressesOfAccount(ctx, account);
  return registered.find((identifier) => guardian.commit(account, identifier) === commitment) ?? null;
}

/** Forgets addresses whose commitments no account has any more. Throws 502 `rpc_error`. */
export async function lookAtAddresses(ctx: GuardianContext): Promise<void> {
  const { config, db, clock } = ctx;
  const due = (await db.read(selectAddressesDue(clock.now(), ADDRESSES_MAX))).map(toAddress);
  await Promise.all(
    due.map(async (address) => {
      const guarded = address.chainId === config.chainId && (await readGuardedAccount(ctx, address.account));
      const isUsed = guarded && guarded.commitment === address.commitment;
      const now = clock.now();
      if (isUsed) await db.write(keepAddress(address, true, now + ADDRESS_CHECK_MS));
      else if (now - address.createdAt < DAY_MS) await db.write(keepAddress(address, false, now + HOUR_MS));
      else await db.write(dropAddress(address));
    }),
  );
}
