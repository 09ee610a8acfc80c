import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test';
import { PERSONAL_TABLES } from '../../lib/person/read.ts';
import { whileTimePasses } from '../support/clock.ts';
import { OPERATOR } from '../support/events.ts';
import { startTestChain } from '../support/onchain.ts';
import { createPeople } from '../support/people.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const chain = await startTestChain();
afterAll(chain.stop);
let t: TestVault;
beforeEach(async () => {
  const limits = { MAX_VERIFY_SENDS_PER_IP: '1000', RATE_LIMIT_CODES_PER_IDENTIFIER: '1000' };
  t = await startVault({ ...chain.vars, ...limits, MAX_REGISTRATIONS_PER_IP: '1000' });
});
afterEach(() => t.stop());

const people = createPeople(chain, () => t);
const erase = (identifier: string) => t.call('POST /v1/console/person/erase', { identifier }, OPERATOR);

async function tablesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of PERSONAL_TABLES)
    if (JSON.stringify(await t.rows(`SELECT * FROM ${table}`)).includes(text)) found.push(table);
  return found;
}

test('whose address is erased keeps DID and passkey, and nobody takes either, or the address without a proof', async () => {
  const [owner, thief] = [await people.create('email'), await people.create('email')];
  expect((await people.claim(owner, (await people.publish(owner)).txHash, { proof: true })).status).toBe(200);
  await t.work();
  await t.clock.advance(1000);
  // A look at the chain is no news of the address.
  const lookUp = async () => ({ ...(await people.lookup(owner)), checkedAt: undefined });
  const before = await lookUp();
  expect((await erase(owner.identifier)).body).toMatchObject({ erased: true, dids: [owner.did], waiting: 0 });
  expect(await tablesWith(owner.identifier)).toEqual([]);
  await t.work();
  // Nobody hears of the address again, not even that there was one.
  const after = { ...before, proofs: { ...before.proofs, identifier: null } };
  expect(before.proofs.identifier).toBe('attestation');
  expect(await lookUp()).toEqual(after);
  // Who lost an address hears of it, but who has none any more.
  await t.rows('UPDATE registrations SET notice_at = 1 WHERE id = 1');
  await t.clock.advance(120_000);
  await t.work();
  expect(await t.rows('SELECT notice_at FROM registrations WHERE id = 1')).toEqual([{ notice_at: null }]);
  expect(JSON.stringify(t.entries)).not.toContain('@erased');

  const own = (await people.publish(thief)).txHash;
  const atAddress = { identifier: owner.identifier };
  const unproven = await people.claim({ ...thief, ...atAddress }, own);
  expect([unproven.status, unproven.body.error]).toEqual([409, 'identifier_taken']);
  const ofCredential = await people.claim(thief, own, { credentialId: owner.credentialId });
  expect([ofCredential.status, ofCredential.body.error]).toEqual([409, 'credential_already_registered']);
  expect((await people.claim({ ...thief, ...atAddress }, own, { proof: true })).status).toBe(200);
  await t.work();
  const held = await t.rows(`SELECT did, identifier FROM registrations WHERE holds = 1 ORDER BY id`);
  expect(held).toEqual([
    { did: owner.did, identifier: 'email:[1]@erased' },
    { did: thief.did, identifier: `email:${owner.identifier}` },
  ]);
  expect(await lookUp()).toEqual(after);
});

test('a code that was out verifies nothing, and its row counts for the client alone', async () => {
  const who = { identifier: 'ada@example.com', channel: 'email' };
  await t.call('POST /api/verify/send', who);
  const code = t.codeFor(who.identifier);
  await erase(who.identifier);
  expect((await t.call('POST /api/verify/check', { ...who, code })).body.verified).toBe(false);
  const uses = (await t.call('GET /v1/console/limits', { kind: 'sends-per-ip' }, OPERATOR)).body.limits;
  expect(uses).toMatchObject([{ used: 1 }]);
  expect(await tablesWith('ada@')).toEqual([]);
});

test('a recovery that is not over keeps the address by which its owner is warned', async () => {
  await erase('nobody@example.com');
  const account = `0x${'a1'.repeat(20)}`;
  const columns = 'chain_id, account, key_x, key_y, label, commitment, identifier, read_block, created_at, final';
  await t.rows(`INSERT INTO recoveries (${columns})
    VALUES (84532, '${account}', 'x', 'y', 'l', 'c', 'email:ada@example.com', 1, 1, 0)`);
  expect((await erase('ada@example.com')).body.waiting).toBe(1);
  expect(await tablesWith('ada@')).toEqual(['recoveries']);
  expect(await t.rows('SELECT count(*) AS open FROM erasures WHERE finished_at IS NULL')).toEqual([{ open: 1 }]);
  await t.rows('UPDATE recoveries SET final = 1');
  expect((await erase('ada@example.com')).body.waiting).toBe(0);
  expect(await tablesWith('ada@')).toEqual([]);
});

test('who registers while two erase is either erased or registered, whole', async () => {
  for (let round = 0; round < 5; round++) {
    const who = await people.create('email');
    const { txHash } = await people.publish(who);
    const all = Promise.all([people.claim(who, txHash, { proof: true }), erase(who.identifier), erase(who.identifier)]);
    const [claimed, ...erased] = await whileTimePasses(t.clock, all);
    expect([200, 400, 403, 409, 503]).toContain(claimed?.status);
    for (const { status } of erased) expect([200, 503]).toContain(status);
    await t.work();
    const left = await t.rows(
      `SELECT (SELECT count(*) FROM registrations WHERE identifier = :key AND holds = 1) AS held,
        (SELECT count(*) FROM sessions WHERE identifier = :key AND linked = 1) AS linked`,
      { key: `email:${who.identifier}` },
    );
    expect(left[0]?.['held']).toBe(left[0]?.['linked']);
    await t.clock.advance(1000);
    expect((await erase(who.identifier)).status).toBe(200);
    expect(await tablesWith(who.identifier)).toEqual([]);
  }
});
