import { MINUTE_MS } from '../base/clock.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { CONFIRMATION_FINAL_DEPTH_BLOCKS, nextCheckAt } from '../chain/next-check.ts';
import { readBlockNumber } from '../chain/receipts.ts';
import type { Statement } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { checkReceipt, type ReceiptCheck } from './check-receipt.ts';
import {
  confirmRegistration,
  failRegistration,
  leaseDueRegistrations,
  postponeRegistration,
  type Registration,
  selectAnyDue,
  toRegistration,
} from './store.ts';

/** How long a registration may have no receipt until it fails. */
export const CONFIRMATION_UNSEEN_MS = 15 * MINUTE_MS;
/** Longer than a check can take, which is two upstream calls in a row. */
export const CONFIRMATION_LEASE_MS = 30_000;
export const CONFIRMATION_BATCH_MAX = 50;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'metrics' | 'log'>;

/**
 * Checks a batch of due registrations on-chain: confirms, fails or postpones each. A confirmed one is watched until
 * its block is deep, and reopened if a re-org removes its block. Returns whether more may be due. Throws errors other
 * than `VaultError`, once all have been checked.
 */
export async function confirmRegistrations(ctx: Ctx): Promise<boolean> {
  const { db, clock, log } = ctx;
  const now = clock.now();
  if ((await db.read(selectAnyDue(now))).length === 0) return false;
  const [leased] = await db.write(leaseDueRegistrations(now, CONFIRMATION_LEASE_MS, CONFIRMATION_BATCH_MAX));
  const due = (leased?.rows ?? []).map(toRegistration);
  // Another process took them all: without this return nothing would await the block number or catch its failure.
  if (due.length === 0) return false;
  const head = readBlockNumber(ctx);
  const checked = await Promise.allSettled(
    due.map(async (one) => recordCheck(ctx, one, ...(await Promise.all([checkReceipt(ctx, one), head])))),
  );
  const failure = worstFailure(checked);
  if (!failure) return due.length === CONFIRMATION_BATCH_MAX;
  // The same registrations are due again once their lease has lapsed.
  if (!(failure instanceof VaultError)) throw failure;
  log({ level: 'warn', event: 'chain_unreadable', registrations: due.length, ...describeError(failure) });
  return false;
}

/** Writes the result of a check, unless its lease has lapsed: then another process checks again. */
async function recordCheck(ctx: Ctx, one: Registration, check: ReceiptCheck, head: number): Promise<void> {
  const now = ctx.clock.now();
  const [statements, outcome] = decide(one, check, head, now);
  const results = await ctx.db.write(...statements);
  if (results.at(-1)?.rowsAffected !== 1 || outcome === one.status) return;
  ctx.metrics.counter('vault_registrations_total').add({ outcome });
  ctx.log({ level: 'info', event: 'registration', id: one.id, outcome, tx: one.txHash });
}

/** The statements for a check and the status that follows. Pure: no I/O, no clock. */
export function decide(
  one: Registration,
  check: ReceiptCheck,
  head: number,
  now: number,
): readonly [statements: readonly Statement[], status: Registration['status']] {
  switch (check.outcome) {
    case 'reverted':
    case 'other_did':
      return [failRegistration(one, check.outcome, now), 'failed'];
    case 'unseen': {
      const isOver = one.status === 'submitted' && now >= one.unseenSince + CONFIRMATION_UNSEEN_MS;
      if (isOver) return [failRegistration(one, 'unseen', now), 'failed'];
      return [postponeRegistration(one, now, nextCheckAt(one.checks - 1, now)), 'submitted'];
    }
    case 'registered': {
      const deep = head - check.block >= CONFIRMATION_FINAL_DEPTH_BLOCKS;
      const seen = {
        proofLevel: check.proofLevel,
        minedBlock: check.block,
        minedHash: check.blockHash,
        nextCheckAt: deep ? null : nextCheckAt(one.checks - 1, now),
      };
      return [confirmRegistration(one, seen, now), 'confirmed'];
    }
  }
}
