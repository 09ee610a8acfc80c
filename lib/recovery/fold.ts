import type { RecoveryEvent } from '../chain/recovery-events.ts';
import type { SeenRecovery } from './change-store.ts';
import { FINISH_TIME_MS, type Recovery } from './store.ts';

/** The result of a look at the chain: the account's events after `readBlock`, and two blocks with their times. */
export interface Look {
  readonly events: readonly RecoveryEvent[];
  /** The account's numbers that its other recoveries have. */
  readonly otherIds: ReadonlySet<number>;
  readonly guardians: readonly string[];
  readonly head: { readonly number: number; readonly time: number };
  /** `time` is undefined where it was not asked. */
  readonly finalBlock: { readonly number: number; readonly time?: number };
  readonly now: number;
}

/** The state of a recovery, by the chain alone. `endBlock` is the block of the event that ended it. */
export type FoundRecovery = Omit<SeenRecovery, 'nextCheckAt' | 'endedAt' | 'failure'> & {
  readonly endBlock: number | null;
};

/**
 * Folds the events into a recovery. Events that were read from final blocks before are kept; all after them are read
 * again each time, so that a re-org takes them back. Pure.
 */
export function foldRecovery(recovery: Recovery, look: Look): FoundRecovery {
  const { finalBlock, head } = look;
  const proposal = proposalOf(recovery, look);
  const readBlock = Math.max(recovery.readBlock, finalBlock.number);
  const none = { contractId: null, txHash: null, readyAt: null, proposedAt: null, proposedBlock: null };
  if (!proposal) return { status: 'queued', isFinal: false, readBlock, endBlock: null, ...none };
  const proposed = {
    contractId: proposal.id,
    readyAt: proposal.readyAt,
    proposedAt: recovery.proposedAt ?? look.now,
    proposedBlock: proposal.block,
  };
  const end = look.events.find(({ kind, id }) => kind !== 'proposed' && id === proposal.id);
  if (end && end.kind !== 'proposed') {
    const isFinal = end.block <= finalBlock.number;
    return { ...proposed, status: end.kind, isFinal, txHash: end.txHash, endBlock: end.block, readBlock };
  }
  const lapsesAt = proposal.readyAt + FINISH_TIME_MS;
  const isLapsed = head.time * 1000 >= lapsesAt;
  return {
    ...proposed,
    status: isLapsed ? 'lapsed' : 'proposed',
    isFinal: isLapsed && (finalBlock.time ?? 0) * 1000 >= lapsesAt,
    txHash: proposal.txHash,
    endBlock: null,
    readBlock,
  };
}

/** The recovery's proposal: that of a final block, else the newest of its key that no other recovery has. */
function proposalOf(recovery: Recovery, { events, otherIds, guardians }: Look) {
  const { contractId, readyAt, proposedBlock, readBlock, txHash, keyX, keyY } = recovery;
  if (contractId !== null && readyAt !== null && proposedBlock !== null && proposedBlock <= readBlock)
    return { id: contractId, readyAt, block: proposedBlock, txHash };
  const own = events.findLast(
    ({ id, proposal }) =>
      proposal?.x === keyX && proposal.y === keyY && guardians.includes(proposal.guardian) && !otherIds.has(id),
  );
  return own?.proposal && { id: own.id, readyAt: own.proposal.readyAt * 1000, block: own.block, txHash: own.txHash };
}
