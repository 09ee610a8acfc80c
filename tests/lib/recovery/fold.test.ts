import { describe, expect, test } from 'bun:test';
import type { RecoveryEvent } from '../../../lib/chain/recovery-events.ts';
import { foldRecovery, type Look } from '../../../lib/recovery/fold.ts';
import type { Recovery } from '../../../lib/recovery/store.ts';

const NOW = Date.UTC(2025, 0, 1);
const READY_AT = NOW / 1000 + 3 * 86_400;
const [OWN, FOREIGN] = [`0x${'47'.repeat(20)}`, `0x${'66'.repeat(20)}`];
const KEY = { x: `0x${'01'.repeat(32)}`, y: `0x${'02'.repeat(32)}` };
const recovery: Recovery = {
  id: 1,
  app: 'default',
  account: `0x${'aa'.repeat(20)}`,
  keyX: KEY.x,
  keyY: KEY.y,
  label: `0x${'0'.repeat(64)}`,
  commitment: `0x${'cc'.repeat(32)}`,
  isForeign: false,
  identifier: 'email:alice@example.com',
  contractId: null,
  status: 'queued',
  failure: null,
  isFinal: false,
  isStopped: false,
  txHash: null,
  readyAt: null,
  proposedAt: null,
  proposedBlock: null,
  endedAt: null,
  readBlock: 90,
  createdAt: NOW,
  checks: 0,
};

const event = (id: number, block: number, more: Partial<RecoveryEvent> = {}): RecoveryEvent => ({
  kind: 'proposed',
  account: recovery.account,
  id,
  block,
  txHash: `0x${id}${block}`,
  proposal: { guardian: OWN, readyAt: READY_AT, ...KEY },
  ...more,
});
const look = (events: readonly RecoveryEvent[], more: Partial<Look> = {}): Look => ({
  events,
  otherIds: new Set(),
  guardians: [OWN],
  head: { number: 120, time: NOW / 1000 },
  finalBlock: { number: 100 },
  now: NOW,
  ...more,
});
const numberOf = (events: readonly RecoveryEvent[], more: Partial<Look> = {}, known: Partial<Recovery> = {}) =>
  foldRecovery({ ...recovery, ...known }, look(events, more)).contractId;

describe('the proposal of a recovery', () => {
  test('is the newest of its key by a guardian of this vault', () => {
    expect(numberOf([event(1, 101), event(2, 105)])).toBe(2);
    const theirs = { guardian: FOREIGN, readyAt: READY_AT, ...KEY };
    expect(numberOf([event(1, 101), event(2, 105, { proposal: theirs })])).toBe(1);
    expect(numberOf([event(1, 101, { proposal: theirs })])).toBeNull();
    expect(numberOf([event(1, 101, { proposal: { ...theirs, guardian: OWN, x: KEY.y } })])).toBeNull();
  });

  test('is none that another recovery of the account has', () => {
    expect(numberOf([event(1, 101), event(2, 105)], { otherIds: new Set([2]) })).toBe(1);
    expect(numberOf([event(1, 101)], { otherIds: new Set([1]) })).toBeNull();
  });

  test('is kept once its block is final, and read again before, so that a re-org takes it back', () => {
    const proposed = { status: 'proposed', contractId: 1, readyAt: READY_AT * 1000, txHash: '0x1' } as const;
    expect(numberOf([], {}, { ...proposed, proposedBlock: 90 })).toBe(1);
    expect(numberOf([], {}, { ...proposed, proposedBlock: 91 })).toBeNull();
    expect(numberOf([event(2, 101)], {}, { ...proposed, proposedBlock: 91 })).toBe(2);
  });
});
