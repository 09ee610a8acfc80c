import { MINUTE_MS } from '../base/clock.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { CONFIRMATION_FINAL_DEPTH_BLOCKS, nextCheckAt } from '../chain/next-check.ts';
import { readBlockNumber } from '../chain/receipts.ts';
import type { Statement } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { type Judgement, judgeClaim } from './check-receipt.ts';
import {
  claimDueRegistrations,
  confirmRegistration,
  failRegistration,
  postponeRegistration,
  type Registration,
  selectAnyDue,
  toRegistration,
} from './store.ts';

/** Registrations that were sent and wait for their block. */
export const CONFIRMATION_UNSEEN_MS = 15 * MINUTE_MS;
/** Longer than a judgement can take, which is two upstream calls in a row. */
export const CONFIRMATION_LEASE_MS = 30_000;
export const CONFIRMATION_BATCH_MAX = 50;

type Services = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'metrics' | 'log'>;

/**
 * Looks at the chain for a batch of registrations that are due and notes what it says: confirmed, failed, or looked at again later.
 * A confirmed one is watched until it is deep, and falls back when a re-org takes its block. Returns whether more may be due.
 * Throws an error of ours, once all have been judged.
 */
export async function confirmRegistrations(vault: Services): Promise<boolean> {
  const { db, clock, log } = vault;
  const now = clock.now();
  if ((await db.read(selectAnyDue(now))).length === 0) return false;
  const [claimed] = await db.write(claimDueRegistrations(now, CONFIRMATION_LEASE_MS, CONFIRMATION_BATCH_MAX));
  const due = (claimed?.rows ?? []).map(toRegistration);
  // Another process took them all: nobody would wait for the block number, nor catch its failure.
  if (due.length === 0) return false;
  const head = readBlockNumber(vault);
  const judged = await Promise.allSettled(
    due.map(async (one) => note(vault, one, ...(await Promise.all([judgeClaim(vault, one), head])))),
  );
  const failure = worstFailure(judged);
  if (!failure) return due.length === CONFIRMATION_BATCH_MAX;
  // Left to their lease: the same registrations are due again once it has lapsed.
  if (!(failure instanceof VaultError)) throw failure;
  log({ level: 'warn', event: 'chain_unreadable', registrations: due.length, ...describeError(failure) });
  return false;
}

/** Stores one judgement, unless its lease lapsed meanwhile: then another process judges anew. */
async function note(vault: Services, one: Registration, judgement: Judgement, head: number): Promise<void> {
  const now = vault.clock.now();
  const [statements, outcome] = decide(one, judgement, head, now);
  const results = await vault.db.write(...statements);
  if (results.at(-1)?.rowsAffected !== 1 || outcome === one.status) return;
  vault.metrics.counter('vault_registrations_total').add({ outcome });
  vault.log({ level: 'info', event: 'registration', id: one.id, outcome, tx: one.txHash });
}

/** What to write for a judgement, and the status that follows. Pure: everything it needs is handed in. */
export function decide(
  one: Registration,
  judgement: Judgement,
  head: number,
  now: number,
): readonly [statements: readonly Statement[], status: Registration['status']] {
  switch (judgement.outcome) {
    case 'reverted':
    case 'other_did':
      return [failRegistration(one, judgement.outcome, now), 'failed'];
    case 'unseen': {
      const isOver = one.status === 'submitted' && now >= one.unseenSince + CONFIRMATION_UNSEEN_MS;
      if (isOver) return [failRegistration(one, 'unseen', now), 'failed'];
      return [postponeRegistration(one, now, nextCheckAt(one.checks - 1, now)), 'submitted'];
    }
    case 'registered': {
      const deep = head - judgement.block >= CONFIRMATION_FINAL_DEPTH_BLOCKS;
      const seen = {
        strength: judgement.strength,
        minedBlock: judgement.block,
        minedHash: judgement.blockHash,
        nextCheckAt: deep ? null : nextCheckAt(one.checks - 1, now),
      };
      return [confirmRegistration(one, seen, now), 'confirmed'];
    }
  }
}
