import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { startTestChain } from '../../support/onchain.ts';
import { createPeople, type Person } from '../../support/people.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const chain = await startTestChain({ edition: 1 });
afterAll(chain.stop);

let t: TestVault;
afterEach(() => t.stop());

const people = createPeople(chain, () => t);
const { create, publish, lookup } = people;
const claim: typeof people.claim = (...given) => people.claim(...given);

async function look(ms = 31_000): Promise<void> {
  await t.clock.advance(ms);
  await t.work();
}

const start = async (follower: boolean) => {
  t = await startVault({ ...chain.vars, FOLLOWER: String(follower), RATE_LIMIT_PROXY_PER_IP: '1000' });
};

/** A handle that a claim holds without an alias, watched no more, and who gets its alias on-chain after that. */
async function outlived(): Promise<{ early: Person; owner: Person; txHash: string }> {
  const [early, later] = [await create('handle'), await create('handle')];
  const registered = await chain.register({ did: early.did }, { holder: early.account });
  expect((await claim(early, registered.txHash)).status).toBe(200);
  await look();
  await chain.mine(64);
  await look();
  const [row] = await t.rows('SELECT next_check_at, holds FROM registrations WHERE did = :did', { did: early.did });
  expect(row).toEqual({ next_check_at: null, holds: 1 });
  const owner = { ...later, identifier: early.identifier };
  return { early, owner, txHash: (await publish(owner)).txHash };
}

/** The handle is lost, and DID and credential are kept. */
async function expectLost(early: Person): Promise<void> {
  const [row] = await t.rows('SELECT lost, status, holds FROM registrations WHERE did = :did', { did: early.did });
  expect(row).toEqual({ lost: 'alias_elsewhere', status: 'confirmed', holds: 0 });
  expect(await lookup(early)).toMatchObject({ did: early.did, status: 'confirmed', proofs: { identifier: null } });
  const told = await t.rows(`SELECT data FROM events WHERE type = 'registration.failed'`);
  expect(told.map(({ data }) => JSON.parse(String(data)))).toMatchObject([
    { did: early.did, reason: 'alias_elsewhere' },
  ]);
}

test('a handle that was lost is kept from nobody by the claim that lost it, once its alias leads nowhere', async () => {
  await start(false);
  const [early, later] = [await create('handle'), await create('handle')];
  const claimed = async (who: Person) => {
    const { txHash } = await chain.register({ did: who.did }, { holder: who.account });
    return (await claim(who, txHash)).status;
  };
  expect(await claimed(early)).toBe(200);
  await look();
  // As after the alias of another DID, which gave it up (freeAlias of the second registry).
  await t.rows(`UPDATE registrations SET lost = 'alias_elsewhere', holds = 0`);
  await t.rows('DELETE FROM sessions');
  expect(await claimed({ ...later, identifier: early.identifier })).toBe(200);
});

describe('a handle whose alias is registered for another DID later is lost', () => {
  test('by the claim of that DID, once it is final', async () => {
    await start(false);
    const { early, owner, txHash } = await outlived();
    expect((await claim(owner, txHash)).status).toBe(200);
    await look();
    await expectLost(early);
    expect(await t.rows('SELECT did FROM registrations WHERE holds = 1')).toEqual([{ did: owner.did }]);
  });

  test('by the session of that DID, without a follower', async () => {
    await start(false);
    const { early, owner } = await outlived();
    const { identifier, channel, did } = owner;
    expect((await t.call('POST /api/sessions', { identifier, channel, did })).status).toBe(200);
    await look();
    await look();
    await expectLost(early);
  });

  test('by what the follower reads, without anybody asking', async () => {
    await start(true);
    const { early } = await outlived();
    await look();
    await look();
    await expectLost(early);
  });
});
