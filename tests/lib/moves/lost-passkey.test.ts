// What the holder of an address can do without any passkey of its account (completions-3, 2.1, 2.4, 2.7).
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { recoveryOf, send } from '../../support/account2.ts';
import { CHALLENGE_VARS, createChallenges, FINAL, timeOfHead } from '../../support/challenges.ts';
import { testClock } from '../../support/clock.ts';
import { OPERATOR } from '../../support/events.ts';
import { registerData, startTestChain } from '../../support/onchain.ts';
import type { Person } from '../../support/people.ts';
import { guarded, propose } from '../../support/recoveries.ts';
import { callAs } from '../../support/second-account.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const chain = await startTestChain();
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ ...chain.vars, ...CHALLENGE_VARS }, { clock: testClock(await timeOfHead(chain)) });
});
afterEach(() => t.stop());

const people = createChallenges(chain, () => t);
const { create, publish, look, hours, holderOf } = people;
const claim: typeof people.claim = (...given) => people.claim(...given);

/** An owner whose account has a guardian, and a thief whose claim of its address waits. */
async function challenged() {
  const account: SmartAccount = await guarded(chain.rpc);
  const owner: Person = { ...(await create('email')), passkey: account.passkey, account: account.address };
  const txHash = await callAs(chain.rpc, owner.account, chain.registry, registerData(owner));
  expect((await claim(owner, txHash, { proof: true })).status).toBe(200);
  await chain.mine(FINAL);
  await look();
  const thief: Person = { ...(await create('email')), identifier: owner.identifier };
  const mined = await publish(thief);
  await people.challenge({ thief, mined });
  expect(await standing()).toEqual([thief.did]);
  return { owner, thief, account, txHash, mined };
}

/** Registers the address anew, by a new passkey and account. */
async function anew({ identifier }: Person): Promise<Person> {
  const newcomer: Person = { ...(await create('email')), identifier };
  await people.challenge({ thief: newcomer, mined: await publish(newcomer) });
  return newcomer;
}

const standing = async () => (await t.rows('SELECT did FROM challenges WHERE ended_at IS NULL')).map(({ did }) => did);

describe('who has lost every passkey of an address’s holder', () => {
  test('ends no claim of it by a code alone, and has it after a wait of 72 hours by registering it anew', async () => {
    const { owner, thief, txHash } = await challenged();
    await claim(owner, txHash);
    expect(await standing()).toEqual([thief.did]);
    await hours(24);
    const newcomer = await anew(owner);
    expect(await standing()).toEqual([newcomer.did]);
    // The thief had one code.
    expect((await people.lookup(thief)).proofs.identifier).toBeNull();
    await hours(71);
    expect(await holderOf(owner)).toBe(owner.did);
    await hours(2);
    expect(await holderOf(owner)).toBe(newcomer.did);
  });

  test('keeps it by a recovery of the account, which registering anew gives the time for', async () => {
    const { owner, account, txHash } = await challenged();
    const { passkey, readyAt } = await propose(chain.rpc, account);
    await hours(1);
    const newcomer = await anew(owner);
    await hours(71);
    expect(t.clock.now() / 1000).toBeGreaterThanOrEqual(readyAt);
    // Without that, the thief would have it now.
    expect(await holderOf(owner)).toBe(owner.did);
    await send(chain.rpc, 'bob', account, 'finishRecovery');
    expect((await recoveryOf(chain.rpc, account)).id).toBe(0);
    const found: Person = { ...owner, passkey, credentialId: (await create('email')).credentialId };
    expect((await claim(found, txHash, { proof: true })).status).toBe(200);
    expect(await standing()).toEqual([]);
    await hours(73);
    expect(await holderOf(owner)).toBe(owner.did);
    expect((await people.lookup(newcomer)).proofs.identifier).toBeNull();
  });

  test('has it back from the operator after it moved to a thief, who is barred for 30 days', async () => {
    const { owner, thief, mined } = await challenged();
    await hours(73);
    expect(await holderOf(owner)).toBe(thief.did);
    const [row] = await t.rows('SELECT id FROM registrations WHERE holds = 1');
    expect((await t.call('POST /v1/console/registrations/undo', { id: row?.['id'] }, OPERATOR)).status).toBe(200);
    expect(await holderOf(owner)).toBe(owner.did);
    const again = await claim(thief, mined.txHash, { proof: true });
    expect([again.status, again.body.error]).toEqual([409, 'identifier_taken']);
    expect(again.body.retry_after).toBeGreaterThan(29 * 86_400);
    const newcomer = await anew(owner);
    await hours(73);
    expect(await holderOf(owner)).toBe(newcomer.did);
  });
});
