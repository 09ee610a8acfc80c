import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { readTimedBlock } from '../chain/blocks.ts';
import { findFinalAccount } from '../chain/guarded-account.ts';
import { readRecoveryEvents } from '../chain/recovery-events.ts';
import type { Statement } from '../db/database.ts';
import { findCalls, queueCall, type RelayRow } from '../relay/requests.ts';
import { dueCall } from './calls.ts';
import { isStill, recordSeen, type SeenRecovery } from './change-store.ts';
import { type ChainView, type GuardianContext, RECOVERY_POLL_MS } from './context.ts';
import { type FoundRecovery, foldRecovery } from './fold.ts';
import { queueNotices } from './notice-store.ts';
import {
  FINISH_TIME_MS,
  RECOVERY_PAUSE_MAX_MS,
  type Recovery,
  selectOpen,
  selectOtherIds,
  toRecovery,
} from './store.ts';

/** How long a proposal that a re-org took away may still come back. */
const GONE_MS = 60 * MINUTE_MS;

/**
 * Looks at one recovery: records its state on the chain, and queues the call that is due. True if something changed.
 * Throws 502 `rpc_error`.
 */
export async function followRecovery(ctx: GuardianContext, recovery: Recovery, view: ChainView): Promise<boolean> {
  const { config, clock, db } = ctx;
  const now = clock.now();
  const [events, others, calls, open] = await Promise.all([
    readRecoveryEvents(ctx, recovery.account, recovery.readBlock + 1, view.head.number),
    db.read(selectOtherIds(recovery, config.chainId)),
    findCalls(db, recovery.id),
    db.read(selectOpen(config.chainId, recovery.account)),
  ]);
  const lapsesAt = recovery.readyAt === null ? Number.POSITIVE_INFINITY : recovery.readyAt + FINISH_TIME_MS;
  const mayLapse = view.head.time * 1000 >= lapsesAt;
  const found = foldRecovery(recovery, {
    events,
    otherIds: new Set(others.map((row) => Number(row['contract_id']))),
    guardians: view.guardians,
    head: view.head,
    finalBlock: mayLapse ? await readTimedBlock(ctx, view.finalNumber) : { number: view.finalNumber },
    now,
  });
  const rivals = open.map(toRecovery).filter(({ id }) => id !== recovery.id);
  const settled = await settle(ctx, recovery, found, { calls, rivals, head: view.head, now });
  const { call, failure } = await dueCall(ctx, recovery, settled, { calls, rivals, view, now });
  const seen = failure === undefined ? settled : failed(settled, failure, now);
  const results = await db.write(
    ...recordSeen(recovery, seen, now),
    ...noticesFor(recovery, seen, now),
    ...(call ? [queueCall(call, isStill({ ...recovery, ...seen }), now)] : []),
  );
  const isNew = results[0]?.rowsAffected === 1 && seen.status !== recovery.status;
  if (isNew) recordOutcome(ctx, recovery, seen);
  return isNew || (call !== undefined && results.at(-1)?.rowsAffected === 1);
}

/**
 * Ends a recovery whose events no node answers, if its owners replaced the account's code for good. True if it ended.
 * Throws 502 `rpc_error`.
 */
export async function endIfUpgraded(ctx: GuardianContext, recovery: Recovery): Promise<boolean> {
  const { clock, db } = ctx;
  if ((await findFinalAccount(ctx, recovery.account)) !== 'not_ours') return false;
  const now = clock.now();
  const seen = failed(recovery, 'upgraded', now);
  const [ended] = await db.write(...recordSeen(recovery, seen, now), ...noticesFor(recovery, seen, now));
  if (ended?.rowsAffected === 1) recordOutcome(ctx, recovery, seen);
  return ended?.rowsAffected === 1;
}

interface Around {
  readonly calls: readonly RelayRow[];
  /** The account's other recoveries that may still end. */
  readonly rivals: readonly Recovery[];
  readonly head: ChainView['head'];
  readonly now: number;
}

/** Adds the time of its end, the outbox's facts, and the time of the next look. */
async function settle(
  ctx: GuardianContext,
  recovery: Recovery,
  found: FoundRecovery,
  around: Around,
): Promise<SeenRecovery> {
  const { endBlock, ...seen } = found;
  const { now } = around;
  const failure = seen.status === 'queued' ? failureOf(recovery, around) : undefined;
  if (failure !== undefined) return failed(seen, failure, now);
  const isOver = seen.status !== 'queued' && seen.status !== 'proposed';
  const endedAt = !isOver
    ? null
    : endBlock === null
      ? (seen.readyAt ?? 0) + FINISH_TIME_MS
      : await timeOf(ctx, endBlock);
  return {
    ...seen,
    failure: null,
    endedAt,
    nextCheckAt: isOver && seen.isFinal ? null : nextLook(recovery, seen, around),
  };
}

function failed(seen: Omit<SeenRecovery, 'failure' | 'endedAt' | 'nextCheckAt'>, failure: string, now: number) {
  const status = failure === 'stopped' ? 'cancelled' : 'failed';
  return { ...seen, status, failure, isFinal: true, endedAt: now, nextCheckAt: null } as const;
}

/** Why a recovery that the chain does not show never will be, undefined while it may. */
function failureOf({ isForeign, isStopped, createdAt }: Recovery, { calls, now }: Around): string | undefined {
  const proposal = calls.findLast(({ kind }) => kind === 'proposal');
  if (isForeign) return now - createdAt > GONE_MS ? 'reorg' : undefined;
  if (isStopped && (!proposal || proposal.status === 'failed')) return 'stopped';
  return proposal?.status === 'failed' ? (proposal.failure ?? 'reverted') : undefined;
}

async function timeOf(ctx: GuardianContext, block: number): Promise<number> {
  return (await readTimedBlock(ctx, block)).time * 1000;
}

function nextLook(recovery: Recovery, seen: Pick<SeenRecovery, 'status' | 'readyAt'>, { head, now }: Around): number {
  const isFar =
    seen.status === 'proposed' &&
    !recovery.isStopped &&
    (seen.readyAt ?? 0) - head.time * 1000 > 2 * RECOVERY_PAUSE_MAX_MS;
  return now + (isFar ? RECOVERY_PAUSE_MAX_MS : RECOVERY_POLL_MS);
}

/** The mails that are due: each is queued once, however often it is looked at. */
function noticesFor(recovery: Recovery, seen: SeenRecovery, now: number): readonly Statement[] {
  if (seen.status === 'proposed') {
    const day = Math.floor((now - (seen.proposedAt ?? now)) / DAY_MS);
    const isNewDay = day > 0 && now < (seen.readyAt ?? 0);
    return [
      ...(recovery.status === 'proposed' ? [] : [queueNotices(recovery.id, 'started', 0, now)]),
      ...(isNewDay ? [queueNotices(recovery.id, 'running', day, now)] : []),
    ];
  }
  return seen.nextCheckAt === null ? [queueNotices(recovery.id, 'ended', 0, now)] : [];
}

function recordOutcome({ log, metrics }: GuardianContext, { id, isForeign }: Recovery, seen: SeenRecovery): void {
  const { status, failure } = seen;
  metrics.counter('vault_recoveries_total').add({ outcome: status });
  if (failure === 'guardian') metrics.counter('vault_guardian_given_up_total').add();
  log({ level: 'info', event: 'recovery', id, status, foreign: isForeign, ...(failure === null ? {} : { failure }) });
}
