// Who cannot tell a challenge from a registration, and an erasure in the middle of one (completions-3, 2).
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { CHALLENGE_VARS, createChallenges, timeOfHead } from '../../support/challenges.ts';
import { testClock } from '../../support/clock.ts';
import { OPERATOR } from '../../support/events.ts';
import { startTestChain } from '../../support/onchain.ts';
import type { Person } from '../../support/people.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const chain = await startTestChain();
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ ...chain.vars, ...CHALLENGE_VARS }, { clock: testClock(await timeOfHead(chain)) });
});
afterEach(() => t.stop());

const people = createChallenges(chain, () => t);

describe('S2: a challenge', () => {
  /** What anybody may ask about an address, as it was answered; only the time of its newest code is left out. */
  async function asked({ identifier, channel }: Person) {
    const check = await t.call('GET /api/sessions/check', { identifier, channel });
    const status = await t.call('GET /api/verify/status', { identifier, channel });
    return [check.status, check.text, status.status, status.text.replace(/"verifiedAt":"[^"]+"/, '"verifiedAt":""')];
  }

  test('is not told from a registration by sessions/check and verify/status', async () => {
    const all = await people.held();
    const before = await asked(all.owner);
    expect(before[0]).toBe(200);
    await people.challenge(all);
    expect(await t.rows('SELECT 1 FROM challenges WHERE ended_at IS NULL')).toHaveLength(1);
    expect(await asked(all.owner)).toEqual(before);
  });

  test('ends when its holder renews by another passkey of its account, which gets a registration of its own', async () => {
    const all = await people.held();
    const { owner, thief, txHash } = all;
    await people.challenge(all);
    const other = { ...owner, credentialId: (await people.create('email')).credentialId };
    const renewed = await people.claim(other, txHash, { proof: true });
    expect([renewed.status, renewed.body.holds]).toEqual([200, undefined]);
    expect(await t.rows('SELECT did, lost FROM registrations ORDER BY id')).toEqual([
      { did: owner.did, lost: null },
      { did: thief.did, lost: 'withdrawn_by_holder' },
      { did: owner.did, lost: null },
    ]);
    expect(await t.rows('SELECT did, ended_by FROM challenges')).toEqual([{ did: thief.did, ended_by: 'holder' }]);
    expect(await people.holderOf(owner)).toBe(owner.did);
  });

  test('ends with an erasure of its address, and moves nothing afterwards', async () => {
    const all = await people.held();
    const { owner, thief } = all;
    await people.challenge(all);
    const { identifier } = owner;
    const erased = await t.call('POST /v1/console/person/erase', { identifier }, OPERATOR);
    expect(erased.status).toBe(200);
    await people.hours(100);
    expect(await people.holderOf(owner)).toBeUndefined();
    expect(await t.rows(`SELECT 1 FROM challenges WHERE ended_at IS NULL`)).toEqual([]);
    expect(JSON.stringify(await t.rows('SELECT * FROM challenges'))).not.toContain(identifier);
    expect((await people.lookup(thief)).proofs?.identifier ?? null).toBeNull();
    expect(t.entries.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
