// Who need not wait for an address that moves slowly, and who may not wait any more (completions-3, 2.1, 2.3, 2.4).
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { CHALLENGE_VARS, createChallenges, FINAL, timeOfHead } from '../../support/challenges.ts';
import { testClock } from '../../support/clock.ts';
import { startTestChain } from '../../support/onchain.ts';
import type { Passkey } from '../../support/passkey.ts';
import type { Person } from '../../support/people.ts';
import { signLines } from '../../support/touch.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const chain = await startTestChain();
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ ...chain.vars, ...CHALLENGE_VARS }, { clock: testClock(await timeOfHead(chain)) });
});
afterEach(() => t.stop());

const people = createChallenges(chain, () => t);
const { create, publish, look, held, hours, holderOf } = people;
const claim: typeof people.claim = (...given) => people.claim(...given);

/** A claim of somebody's address by another DID. */
async function claimBy(newcomer: Person, txHash?: string) {
  const reply = await claim(newcomer, txHash ?? (await publish(newcomer)).txHash, { proof: true });
  await chain.mine(FINAL);
  await look();
  await look();
  return reply;
}

const challenges = () => t.rows('SELECT did, judged_at, moves_at, ended_by FROM challenges ORDER BY id');
const told = () => t.rows(`SELECT type FROM events WHERE type LIKE 'registration.challenge%'`);

describe('S2: no wait has', () => {
  // Nor has one of the holder's controller (evidence.test.ts): neither registry lets an account have two DIDs at a time.
  test('another DID with a key of the holder’s account', async () => {
    const { owner } = await held();
    const { did, credentialId } = await create('email');
    // An account of its own, with the same passkey: `getOwner` of another contract says so.
    const account = await chain.deployHolder(owner.passkey.key, `0x${'1'.repeat(64)}`);
    expect(account).not.toBe(owner.account);
    const own = { ...owner, did, credentialId, account };
    expect((await claimBy(own)).status).toBe(200);
    expect(await holderOf(owner)).toBe(did);
    expect(await challenges()).toMatchObject([{ did, judged_at: null, moves_at: null, ended_by: 'moved' }]);
    // Nobody hears of a challenge that was none.
    expect(await told()).toEqual([]);
  });

  test('but a key that the holder’s account had once, and has removed, has one', async () => {
    const all = await held();
    const { thief, mined } = all;
    await people.challenge(all);
    await t.database.execute({
      sql: `INSERT INTO account_keys (account, key, removed) SELECT holder.controller, claim.proof_key, 1
        FROM registrations AS holder JOIN registrations AS claim ON claim.identifier = holder.identifier
        WHERE holder.holds = 1 AND claim.did = :did`,
      args: { did: thief.did },
    });
    const again = await claim(thief, mined.txHash, { proof: true });
    expect(again.body).toMatchObject({ ok: true, holds: false, moves_at: expect.any(String) });
  });

  test('but a DID with another key and another account has one, whatever it says of itself', async () => {
    const { owner, thief, mined } = await held();
    // It names the holder's credential, and its proof is by the thief's key.
    await claimBy({ ...thief, credentialId: owner.credentialId }, mined.txHash);
    expect(await holderOf(owner)).toBe(owner.did);
    expect(await told()).toHaveLength(1);
  });
});

describe('§2.3 dids/release 409 no_challenge', () => {
  /** The holder's passkey signs that a DID may have the address. */
  async function release({ identifier, channel }: Person, did: string, passkey: Passkey) {
    const touch = await signLines(t, passkey, ['vault/release/v1', `${channel}:${identifier}`, did]);
    const { status, body } = await t.call('POST /api/dids/release', { identifier, channel, ...touch });
    return [status, body.error];
  }

  test('where nobody claims the address, where it is nobody’s, and after its holder renewed it', async () => {
    const all = await held();
    const { owner, thief, txHash } = all;
    const refused = [409, 'no_challenge'];
    expect(await release(owner, thief.did, owner.passkey)).toEqual(refused);
    const nobodys = await create('email');
    expect(await release(nobodys, thief.did, nobodys.passkey)).toEqual(refused);
    await people.challenge(all);
    expect((await claim(owner, txHash, { proof: true })).status).toBe(200);
    expect(await release(owner, thief.did, owner.passkey)).toEqual(refused);
    expect(await holderOf(owner)).toBe(owner.did);
  });
});

describe('§2.4 dids 409 identifier_taken', () => {
  test('after three replacements in 30 days, with the time when the first of them is 30 days old', async () => {
    const all = await held();
    const { owner } = all;
    await people.challenge(all);
    const next = async () => claimBy({ ...(await create('email')), identifier: owner.identifier });
    const replaced: number[] = [];
    for (let n = 0; n < 3; n++) {
      expect((await next()).status).toBe(200);
      replaced.push(t.clock.now());
      expect((await challenges()).filter((one) => one['ended_by'] === 'replaced')).toHaveLength(n + 1);
      await hours(25);
    }
    const refused = await next();
    expect([refused.status, refused.body.error]).toEqual([409, 'identifier_taken']);
    const until = (replaced[0] as number) + 30 * DAY_MS - t.clock.now();
    expect(refused.body.retry_after * 1000).toBeWithin(until - 120_000, until + 120_000);
    expect((await challenges()).filter((one) => one['ended_by'] === null)).toHaveLength(1);
    // Each one began the wait anew: the last of them has the address, and not before its own wait is over.
    await hours(46);
    expect(await holderOf(owner)).toBe(owner.did);
    await hours(2);
    expect(await holderOf(owner)).toBe((await challenges()).at(-1)?.['did']);
  });
});
