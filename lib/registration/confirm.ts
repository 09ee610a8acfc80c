import type { Aliases } from '../aliases/aliases.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { CONFIRMATION_FINAL_DEPTH_BLOCKS, nextCheckAt } from '../chain/receipts.ts';
import { agreed, readCommonFinal, readCommonHead } from '../chain/witness.ts';
import type { Statement } from '../db/database.ts';
import { didNames } from '../identity/did.ts';
import type { Platform } from '../platform.ts';
import {
  confirmRegistration,
  failRegistration,
  postponeRegistration,
  type SeenRegistration,
  watchRegistration,
} from './change-store.ts';
import { checkLead, checkStored, type RegisteredClaim } from './check-receipt.ts';
import { hasKeyAt } from './judge-proof.ts';
import { CHECKS, leaseDueRegistrations, type Registration, toRegistration } from './store.ts';

/** How long looks must miss a registration's transaction until it fails. */
export const CONFIRMATION_UNSEEN_MS = 15 * MINUTE_MS;
/** The most time since the look before that one look vouches for: in an outage nobody looks, and clocks may jump. */
export const CONFIRMATION_LOOK_MS = 2 * MINUTE_MS;
/** Longer than a check can take, which is two upstream calls in a row. */
export const CONFIRMATION_LEASE_MS = 30_000;
export const CONFIRMATION_BATCH_MAX = 50;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'metrics' | 'log'> & {
  readonly aliases: Aliases;
};

/**
 * Checks a batch of due registrations on-chain: confirms, fails or postpones each. A confirmed one is watched until
 * its block is final and deep, and reopened if a re-org removes its block. Returns whether more may be due. Throws
 * errors other than `VaultError`, once all have been checked.
 */
export async function confirmRegistrations(ctx: Ctx): Promise<boolean> {
  const { db, clock, log } = ctx;
  const now = clock.now();
  if ((await db.read(CHECKS.any(now))).length === 0) return false;
  const [leased] = await db.write(leaseDueRegistrations(now, CONFIRMATION_LEASE_MS, CONFIRMATION_BATCH_MAX));
  const due = (leased?.rows ?? []).map(toRegistration);
  // Another process took them all: without this return nothing would await the block number or catch its failure.
  if (due.length === 0) return false;
  const tip = readTip(ctx);
  const checked = await Promise.allSettled(
    due.map(async (one) => recordCheck(ctx, one, ...(await check(ctx, one, tip)))),
  );
  const failure = worstFailure(checked);
  if (!failure) return due.length === CONFIRMATION_BATCH_MAX;
  // The same registrations are due again once their lease has lapsed.
  if (!(failure instanceof VaultError)) throw failure;
  log({ level: 'warn', event: 'chain_unreadable', registrations: due.length, ...describeError(failure) });
  return false;
}

/** The newest block and the newest final one, and when the chain was asked for them, before anything else. */
interface Tip {
  readonly askedAt: number;
  readonly head: number;
  readonly final: number;
}

type JudgedTip = Tip & { readonly isKeyFinal: boolean };

async function readTip(ctx: Ctx): Promise<Tip> {
  const askedAt = ctx.clock.now();
  const [head, final] = await Promise.all([readCommonHead(ctx), readCommonFinal(ctx)]);
  return { askedAt, head, final };
}

/** Where a handle's alias leads, and whether no re-org changes that. */
type AliasCheck = Awaited<ReturnType<typeof checkLead>>;

/** The result of checking a stored registration on the chain. */
type StoredCheck = Awaited<ReturnType<typeof checkStored>>;

async function check(ctx: Ctx, one: Registration, tip: Promise<Tip>) {
  const [receipt, alias, read] = await Promise.all([checkStored(ctx, one, tip), checkLead(ctx.aliases, one), tip]);
  return [receipt, alias, { ...read, isKeyFinal: await isKeyFinal(ctx, receipt, read) }] as const;
}

/** Whether no re-org can take the key of a proof back; its block is judged apart. */
async function isKeyFinal(ctx: Ctx, receipt: StoredCheck, { final }: Tip): Promise<boolean> {
  if (receipt.outcome !== 'registered' || !receipt.isLate || receipt.signer === null) return true;
  const { controller, signer, block } = receipt;
  return block <= final && agreed(ctx, 'registration', (chain) => hasKeyAt(chain, controller, signer, final));
}

/** Writes the result of a check, unless its lease has lapsed: then another process checks again. */
async function recordCheck(ctx: Ctx, one: Registration, receipt: StoredCheck, alias: AliasCheck, tip: JudgedTip) {
  const now = ctx.clock.now();
  const { statements, outcome } = decide(one, receipt, alias, tip, { chainId: ctx.config.chainId, now });
  const results = await ctx.db.write(...statements);
  if (outcome === one.status || results[1]?.rowsAffected !== 1) return;
  ctx.metrics.counter('vault_registrations_total').add({ outcome });
  ctx.log({ level: 'info', event: 'registration', id: one.id, outcome, tx: one.txHash });
}

/**
 * The statements for a check and the status that follows; the second changes the registration where its status does.
 * Pure: no I/O, no clock.
 */
export function decide(
  one: Registration,
  receipt: StoredCheck,
  alias: AliasCheck,
  tip: JudgedTip,
  { chainId, now }: { readonly chainId: number; readonly now: number },
): { readonly statements: readonly Statement[]; readonly outcome: Registration['status'] } {
  const fail = (reason: string) => ({ statements: failRegistration(one, reason, now), outcome: 'failed' as const });
  const wait = () => {
    const unseenSince = receipt.outcome === 'unseen' ? missedSince(one, now) : null;
    const seen = { ...leadOf(alias), unseenSince };
    const statements = postponeRegistration(one, seen, now, nextCheckAt(one.checks - 1, now));
    return { statements, outcome: 'submitted' as const };
  };
  switch (receipt.outcome) {
    case 'reverted':
    case 'other_did':
      // In another block it may succeed yet.
      return receipt.block <= tip.final ? fail(receipt.outcome) : wait();
    case 'unknown':
      return wait();
    case 'forgotten':
      return { statements: watchRegistration(one, { nextCheckAt: null, seenAt: null }, now), outcome: 'confirmed' };
    case 'unseen': {
      const isOver = one.status === 'submitted' && now >= missedSince(one, now) + CONFIRMATION_UNSEEN_MS;
      return isOver ? fail('unseen') : wait();
    }
    case 'registered': {
      // A did:pkh names its owner; any other DID is a label.
      if (!receipt.isRightful && didNames(one.did, chainId, receipt.controller) === 'another')
        return fail('did_not_yours');
      const seen = { ...seenOf(one, receipt, alias, tip, now), chainId };
      if (seen.proofKey === null && isRefuted(receipt, seen)) return fail('proof_invalid');
      const statements = isNews(one, seen)
        ? confirmRegistration(one, seen, now)
        : watchRegistration(one, { nextCheckAt: seen.nextCheckAt, seenAt: tip.askedAt }, now);
      return { statements, outcome: 'confirmed' };
    }
  }
}

/** Since when looks have missed a transaction, as of a look that misses it too. */
function missedSince({ status, unseenSince, unseenAt }: Registration, now: number): number {
  if (status === 'confirmed' || unseenAt === null) return now;
  const sinceLook = Math.min(CONFIRMATION_LOOK_MS, Math.max(0, now - unseenAt));
  return now - (unseenAt - unseenSince) - sinceLook;
}

/** Whether the alias leads to the registration's DID now, and where it leads for good. */
function leadOf({ lead, isFinal }: AliasCheck): Pick<SeenRegistration, 'isAliased' | 'aliasFinal'> {
  return { isAliased: lead === 'own', aliasFinal: isFinal && lead !== 'none' ? lead : null };
}

/** A proof that no key can be found for counts for nothing in the end. */
function isRefuted({ proof }: RegisteredClaim, { isFinal }: SeenRegistration): boolean {
  return proof === 'account' || proof === 'signature' || (proof === 'keyless' && isFinal);
}

function seenOf(
  one: Registration,
  claim: RegisteredClaim,
  alias: AliasCheck,
  { askedAt, head, final, isKeyFinal }: JudgedTip,
  now: number,
): Omit<SeenRegistration, 'chainId'> {
  const { controller, keys, isSeveral, block, blockHash } = claim;
  const kept = keptProof(one, claim);
  const isLate = kept === null ? claim.isLate : one.isLate;
  // A late key that was final once stays evidence.
  const isFinal = block <= final && (isKeyFinal || !isLate || (kept !== null && one.isFinal));
  const isSettled = isFinal && head - block >= CONFIRMATION_FINAL_DEPTH_BLOCKS;
  const isAliasOpen = alias.lead !== 'none' && !alias.isFinal;
  return {
    controller,
    controllerKey: isSeveral ? null : (keys[0] ?? null),
    accountKeys: isSeveral ? keys : null,
    // Version 1 was verified by this key, which was not stored then.
    proofKey: kept ?? claim.signer ?? (one.isProvenByV1 ? (keys[0] ?? null) : null),
    isLate,
    isFinal,
    isActive: claim.isActive ?? one.isActive,
    ...leadOf(alias),
    askedAt,
    minedBlock: block,
    minedHash: blockHash,
    nextCheckAt: isSettled && !isAliasOpen ? null : nextCheckAt(one.checks - 1, now),
  };
}

/**
 * The key of a proof that was verified before. It stays so while its block stands, even if the account's keys change;
 * one that came after that block only once it is final.
 */
function keptProof(one: Registration, { blockHash, signer, controller }: RegisteredClaim): string | null {
  if (one.proofKey === null || one.minedHash !== blockHash) return null;
  // Moved to another account: it must have the key too.
  if (one.controller !== null && one.controller !== controller && signer !== one.proofKey) return null;
  return !one.isLate || one.isFinal || signer === one.proofKey ? one.proofKey : null;
}

/** Whether the chain says more or other than the stored row. */
function isNews(one: Registration, seen: SeenRegistration): boolean {
  const isSame =
    one.status === 'confirmed' &&
    one.minedHash === seen.minedHash &&
    one.isFinal === seen.isFinal &&
    one.isActive === seen.isActive &&
    one.controller === seen.controller &&
    one.controllerKey === seen.controllerKey &&
    one.proofKey === seen.proofKey &&
    one.isAliased === seen.isAliased;
  if (!isSame || (seen.aliasFinal === 'elsewhere' && one.lost === null)) return true;
  // At the end of the watch the others lose the handle, even those that are no longer watched.
  return seen.aliasFinal === 'own' && seen.nextCheckAt === null;
}
