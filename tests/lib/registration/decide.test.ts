import { describe, expect, test } from 'bun:test';
import { UNALIASED } from '../../../lib/aliases/aliases.ts';
import { MINUTE_MS } from '../../../lib/base/clock.ts';
import { decide } from '../../../lib/registration/confirm.ts';
import type { Registration } from '../../../lib/registration/store.ts';

const NOW = Date.UTC(2027, 0, 1);
const KEY = `0x${'11'.repeat(64)}`;
const CONTROLLER = `0x${'22'.repeat(20)}` as const;
const HASH = `0x${'33'.repeat(32)}`;
const NO_ALIAS = { ...UNALIASED, isFinal: false };

const REGISTRATION: Registration = {
  id: 1,
  app: 'default',
  identifier: 'email:maya@example.com',
  channel: 'email',
  did: 'did:key:zmaya',
  didHash: '0x1',
  aliasHash: '0x2',
  credentialId: 'credential',
  txHash: '0x4',
  blockNumber: 5,
  smartAccount: null,
  proof: null,
  status: 'submitted',
  failure: null,
  lost: null,
  isAliased: false,
  isFinal: false,
  isActive: true,
  controller: null,
  controllerKey: null,
  proofKey: null,
  isLate: false,
  isProvenByV1: false,
  isHolder: false,
  isWaiting: false,
  registeredAt: NOW,
  unseenSince: NOW,
  unseenAt: null,
  minedBlock: null,
  minedHash: null,
  nextCheckAt: NOW,
  checks: 1,
};
const TIP = { askedAt: NOW, head: 9, final: 7, isKeyFinal: true };

describe('what a look at a registration decides', () => {
  test('a clock that was set back takes no minute of those back in which looks missed the transaction', () => {
    const missed = 14 * MINUTE_MS;
    const unseenAt = NOW + 10 * MINUTE_MS;
    const one = { ...REGISTRATION, unseenAt, unseenSince: unseenAt - missed };
    const { statements, outcome } = decide(one, { outcome: 'unseen' }, NO_ALIAS, TIP, { chainId: 1, now: NOW });
    expect(outcome).toBe('submitted');
    expect(statements[1]?.args).toMatchObject({ unseen_since: NOW - missed });
  });

  test.each([
    ['stays evidence where it was final once', true],
    ['counts for nothing yet where it never was final', false],
  ])('a late key that an account removed before the block was deep %s', (_, isFinal) => {
    const kept = { controller: CONTROLLER, minedHash: HASH, minedBlock: 5, proofKey: KEY, isLate: true };
    const one = { ...REGISTRATION, ...kept, status: 'confirmed', isFinal } as const;
    const claim = { outcome: 'registered', isRightful: true, isActive: true, givenTo: CONTROLLER, block: 5 } as const;
    const gone = { controller: CONTROLLER, blockHash: HASH, keys: [], isSeveral: false, isLate: true, signer: null };
    const receipt = { ...claim, ...gone, proof: 'open' } as unknown as Parameters<typeof decide>[1];
    const tip = { ...TIP, isKeyFinal: false };
    const { statements } = decide(one, receipt, NO_ALIAS, tip, { chainId: 1, now: NOW });
    const written = statements.find(({ sql }) => sql.includes('proof_key = :proof_key'))?.args;
    // Where the look says what is stored, only the time of the next one is written.
    expect(written).toEqual(isFinal ? undefined : expect.objectContaining({ final: 0, proof_key: null }));
  });
});
