import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { whileTimePasses } from '../support/clock.ts';
import {
  attest,
  contactBody,
  createOwner,
  DELAY,
  recoveryBody,
  startRecoveryChain,
  startRecoveryVault,
  vetoOf,
} from '../support/recovery.ts';
import { addKey } from '../support/second-account.ts';
import type { TestVault } from '../support/vault.ts';

const chain = await startRecoveryChain();
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await start();
});
afterEach(() => t.stop());

const start = (vars: Record<string, string | undefined> = {}) => startRecoveryVault(chain, vars);

/** Time goes on for the vault and the chain, and the vault works. */
async function settle(by = t): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await by.clock.advance(20_000);
    await chain.wait(20, 2);
    await by.work();
  }
}

const ask = (body: object, by = t) => whileTimePasses(by.clock, by.call('POST /api/recoveries', { ...body }));
const statusOf = async (smartAccount: string, by = t) =>
  (await by.call('GET /api/recoveries/status', { smartAccount })).body.recovery;

test('X51: a pending recovery that the database does not know is withdrawn by its address', async () => {
  const owner = await createOwner(chain, t, 'lost@example.com');
  await ask(recoveryBody(t, owner, createPasskey()));
  // The database is lost, or an old copy; the guardian's key is the same.
  await chain.wait(3_600, 30);
  const fresh = await start();
  await fresh.work();
  const stop = { attestation: attest(fresh, owner.email), smartAccount: owner.account };
  expect((await whileTimePasses(fresh.clock, fresh.call('POST /api/recoveries/cancellations', stop))).status).toBe(202);
  await settle(fresh);
  expect(await statusOf(owner.account, fresh)).toMatchObject({ status: 'cancelled' });
  expect(await chain.events(owner.account)).toMatchObject({ proposed: 1, cancelled: 1 });
  await fresh.stop();
});

test('X51: and replaced by another key of its address', async () => {
  const owner = await createOwner(chain, t, 'lost2@example.com');
  await ask(recoveryBody(t, owner, createPasskey()));
  await chain.wait(3_600, 30);
  const fresh = await start();
  const kept = createPasskey();
  expect((await ask(recoveryBody(fresh, owner, kept), fresh)).status).toBe(202);
  await settle(fresh);
  const x = `0x${Buffer.from(kept.key.x).toString('hex')}`;
  expect(await statusOf(owner.account, fresh)).toMatchObject({ status: 'proposed', pubKeyX: x, id: 2 });
  expect(await chain.events(owner.account)).toMatchObject({ proposed: 2, cancelled: 1 });
  await fresh.stop();
});

test('X43: an address has a few commitments that no account uses, and the oldest go', async () => {
  const attestation = attest(t, 'mallory@example.com');
  for (let i = 0; i < 30; i++) {
    const smartAccount = `0x${i.toString(16).padStart(40, 'c')}`;
    const { status } = await t.call('POST /api/recoveries/commitments', { attestation, smartAccount });
    expect(status).toBe(200);
    await t.clock.advance(1);
  }
  const kept = await t.rows('SELECT account FROM recovery_addresses ORDER BY created_at');
  expect(kept.map(({ account }) => Number.parseInt(String(account).slice(-2), 16) & 31)).toHaveLength(10);
  expect(String(kept.at(-1)?.['account'])).toEndWith('1d');
});

test('X53: five keys asked for at once: one is proposed, and nobody is answered 500', async () => {
  const owner = await createOwner(chain, t, 'five@example.com');
  const keys = Array.from({ length: 3 }, () => createPasskey());
  const answers = await Promise.all(keys.map((key) => ask(recoveryBody(t, owner, key))));
  for (const { status, body } of answers)
    expect(status === 202 || (status === 409 && body.error === 'recovery_pending')).toBe(true);
  await settle();
  // The chain has accounts of the tests before, with proposals that this vault finds.
  const open = await t.rows(`SELECT id FROM recoveries WHERE status = 'proposed' AND account = :account`, {
    account: owner.account.toLowerCase(),
  });
  expect(open).toHaveLength(1);
});

test('X52: a veto is taken while the vault learns that its recovery is proposed', async () => {
  const owner = await createOwner(chain, t, 'quick@example.com');
  const key = createPasskey();
  await ask(recoveryBody(t, owner, key));
  // As the worker finds it when it reads the chain again between the two halves of the request.
  await t.rows(`UPDATE recoveries SET status = 'queued', contract_id = NULL`);
  const signature = vetoOf(owner, key, 1);
  const vetoing = whileTimePasses(
    t.clock,
    t.call('POST /api/recoveries/vetoes', { smartAccount: owner.account, signature }),
  );
  const looking = t.work();
  expect((await vetoing).body.error).toBeUndefined();
  await looking;
  expect(await chain.events(owner.account)).toMatchObject({ vetoed: 1 });
});

test('X47: the second address hears that it is none any more', async () => {
  const owner = await createOwner(chain, t, 'owner@example.com');
  const set = async (email?: string) =>
    t.call('POST /api/recoveries/contacts', { ...(await contactBody(t, owner.account, owner.passkey, email)) });
  const told = () => t.entries.filter(({ event, notice }) => event === 'notice' && notice === 'recovery_contact');
  await set('friend@example.com');
  expect(told()).toEqual([]);
  await set('other@example.com');
  expect(told().map(({ to }) => to)).toEqual(['friend@example.com']);
  await set();
  expect(told().map(({ to }) => to)).toEqual(['friend@example.com', 'other@example.com']);
});

test('a recovery whose key an owner has added meanwhile ends once: its finish changes nothing', async () => {
  const owner = await createOwner(chain, t, 'twice@example.com');
  const key = createPasskey();
  await ask(recoveryBody(t, owner, key));
  await addKey(chain.rpc, owner.account, key.key);
  await t.clock.advance((DELAY + 60) * 1000);
  await chain.wait(DELAY + 60, 2);
  for (let i = 0; i < 8; i++) await settle();
  expect(await statusOf(owner.account)).toMatchObject({ status: 'finished', final: true });
  const calls = `SELECT kind, count(*) AS calls FROM relays WHERE target = :account GROUP BY kind ORDER BY kind`;
  expect(await t.rows(calls, { account: owner.account.toLowerCase() })).toEqual([
    { kind: 'finish', calls: 1 },
    { kind: 'proposal', calls: 1 },
  ]);
});

test('X25: what is left for vetoes is not spent on proposals', async () => {
  const owner = await createOwner(chain, t, 'poor@example.com');
  await chain.rpc('anvil_setBalance', [chain.guardian.address, '0x8e1bc9bf04000']);
  const { body } = await ask(recoveryBody(t, owner, createPasskey()));
  await chain.rpc('anvil_setBalance', [chain.guardian.address, '0xde0b6b3a7640000']);
  expect(body.error).toBe('guardian_unfunded');
});
