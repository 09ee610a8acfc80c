// An address whose holder has a passkey moves slowly (S2).
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { toHex } from '../../../lib/base/bytes.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { CHALLENGE_VARS, createChallenges, FINAL, timeOfHead } from '../../support/challenges.ts';
import { testClock } from '../../support/clock.ts';
import { OPERATOR } from '../../support/events.ts';
import { startTestChain } from '../../support/onchain.ts';
import type { Passkey } from '../../support/passkey.ts';
import type { Person } from '../../support/people.ts';
import { signLines } from '../../support/touch.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const chain = await startTestChain();
afterAll(chain.stop);

let t: TestVault;
let isNodeAway = false;
beforeEach(async () => {
  isNodeAway = false;
  t = await start();
});
afterEach(() => t.stop());

async function start(vars: Record<string, string> = {}): Promise<TestVault> {
  const reach: typeof fetch = Object.assign(
    (...given: Parameters<typeof fetch>) =>
      isNodeAway && String(given[0]).startsWith(chain.url) ? Promise.reject(new TypeError('away')) : fetch(...given),
    { preconnect: fetch.preconnect },
  );
  const settings = { ...chain.vars, ...CHALLENGE_VARS, ...vars };
  return startVault(settings, { clock: testClock(await timeOfHead(chain)), fetch: reach });
}

const people = createChallenges(chain, () => t);
const { create, publish, lookup, look, held, hours, holderOf } = people;
const claim: typeof people.claim = (...given) => people.claim(...given);

/** Lets a challenge stand: the thief's claim is final, and judged. */
async function challenged() {
  const all = await held();
  return { ...all, reply: await people.challenge(all) };
}

/** The holder's passkey signs that another DID may have the address. */
async function release({ identifier, channel }: Person, did: string, passkey: Passkey) {
  const touch = await signLines(t, passkey, ['vault/release/v1', `${channel}:${identifier}`, did]);
  return t.call('POST /api/dids/release', { identifier, channel, ...touch });
}

const eventsOf = async (type: string) =>
  (await t.rows('SELECT data FROM events WHERE type = :type ORDER BY id', { type })).map(({ data }) =>
    JSON.parse(String(data)),
  );
const challenges = () => t.rows('SELECT did, moves_at, ended_by FROM challenges ORDER BY id');

describe('S2: an address with a passkey', () => {
  test('is not taken with one code', async () => {
    const { owner, thief, reply } = await challenged();
    expect(reply.body).toMatchObject({ ok: true, holds: false, moves_at: expect.any(String) });
    expect(await holderOf(owner)).toBe(owner.did);
    expect((await lookup(owner)).proofs.identifier).toBe('attestation');
    expect(await lookup(thief)).toMatchObject({ proven: true, moves_at: expect.any(String) });
    expect((await lookup(thief)).proofs.identifier).toBeNull();
    expect(await eventsOf('registration.challenged')).toMatchObject([{ did: thief.did }]);
    await hours(71);
    expect(await holderOf(owner)).toBe(owner.did);
  });

  test('moves when both the vault’s clock and a final block are past the wait', async () => {
    const { owner, thief } = await challenged();
    await hours(73, { isChainToo: false });
    expect(await holderOf(owner)).toBe(owner.did);
    await hours(1);
    expect(await holderOf(owner)).toBe(thief.did);
    expect((await lookup(thief)).proofs.identifier).toBe('attestation');
    expect((await lookup(thief)).moves_at).toBeUndefined();
    expect(await challenges()).toMatchObject([{ did: thief.did, ended_by: 'moved' }]);
    expect(await eventsOf('registration.challenge_ended')).toMatchObject([{ did: thief.did, by: 'moved' }]);
  });

  test('stays where its holder renews it, and keeps the DID that was refused away for a day, then for two', async () => {
    const { owner, thief, mined, txHash } = await challenged();
    const renewed = await claim(owner, txHash, { proof: true });
    expect([renewed.status, renewed.body]).toMatchObject([200, { txHash }]);
    expect(renewed.body.holds).toBeUndefined();
    expect(await t.rows(`SELECT did, lost, status, holds FROM registrations ORDER BY id`)).toEqual([
      { did: owner.did, lost: null, status: 'confirmed', holds: 1 },
      { did: thief.did, lost: 'withdrawn_by_holder', status: 'confirmed', holds: 0 },
    ]);
    expect(await lookup(thief)).toMatchObject({ did: thief.did, proven: true, proofs: { identifier: null } });
    expect(await eventsOf('registration.challenge_ended')).toMatchObject([{ by: 'holder' }]);
    const again = await claim(thief, mined.txHash, { proof: true });
    expect([again.status, again.body.error]).toEqual([409, 'identifier_taken']);
    expect(again.body.retry_after).toBeWithin(86_000, 86_401);
    await hours(24);
    expect((await claim(thief, mined.txHash, { proof: true })).status).toBe(200);
    await look();
    await look();
    await claim(owner, txHash, { proof: true });
    expect((await claim(thief, mined.txHash, { proof: true })).body.retry_after).toBeWithin(172_000, 172_801);
    await hours(100);
    expect(await holderOf(owner)).toBe(owner.did);
  });

  test('is renewed before the challenger is final, too; not by the code alone, nor by another passkey', async () => {
    const { owner, thief, mined, txHash } = await held();
    await claim(thief, mined.txHash, { proof: true });
    await claim(owner, txHash);
    expect(await t.rows(`SELECT lost FROM registrations WHERE lost IS NOT NULL`)).toEqual([]);
    const forged = await claim({ ...owner, passkey: thief.passkey }, txHash, { proof: true });
    expect([forged.status, forged.body.reason]).toEqual([403, 'signature']);
    expect((await claim(owner, txHash, { proof: true })).status).toBe(200);
    expect(await t.rows(`SELECT did FROM registrations WHERE lost = 'withdrawn_by_holder'`)).toEqual([
      { did: thief.did },
    ]);
    expect((await claim(thief, mined.txHash, { proof: true })).status).toBe(409);
  });

  test('has one challenge at a time: a later one takes its place once in a day', async () => {
    const { owner, thief } = await challenged();
    const third = { ...(await create('email')), identifier: owner.identifier };
    await claim(third, (await publish(third)).txHash, { proof: true });
    await hours(1);
    expect(await challenges()).toMatchObject([
      { did: thief.did, ended_by: 'replaced' },
      { did: third.did, ended_by: null },
    ]);
    const fourth = { ...(await create('email')), identifier: owner.identifier };
    const reply = await claim(fourth, (await publish(fourth)).txHash, { proof: true });
    expect([reply.status, reply.body.error]).toEqual([409, 'identifier_taken']);
    expect(reply.body.retry_after).toBeWithin(22 * 3600, 24 * 3600 + 1);
    await hours(73);
    expect(await holderOf(owner)).toBe(third.did);
  });

  test('is let go by its holder’s passkey alone, with a nonce of the vault’s', async () => {
    const { owner, thief } = await challenged();
    const key = { pubKeyX: `0x${toHex(owner.passkey.key.x)}`, pubKeyY: `0x${toHex(owner.passkey.key.y)}` };
    const [seen] = (await lookup(owner, key)).challenges;
    expect(seen).toEqual({ channel: 'email', did: thief.did, moves_at: expect.any(String) });
    const refused = await release(owner, thief.did, thief.passkey);
    expect([refused.status, refused.body.reason]).toEqual([403, 'signature']);
    expect((await release(owner, 'did:key:zother', owner.passkey)).body.reason).toBe('challenge');
    const released = await release(owner, thief.did, owner.passkey);
    expect([released.status, released.body]).toEqual([200, { ok: true, moved: true }]);
    expect(await holderOf(owner)).toBe(thief.did);
    expect(await eventsOf('registration.challenge_ended')).toMatchObject([{ by: 'released' }]);
    const again = await release(owner, thief.did, owner.passkey);
    expect([again.status, again.body.error]).toEqual([409, 'no_challenge']);
  });

  test('that was let go before the claim is final moves when it is', async () => {
    const { owner, thief, mined } = await held();
    await claim(thief, mined.txHash, { proof: true });
    expect((await release(owner, thief.did, owner.passkey)).body).toEqual({ ok: true, moved: false });
    expect(await holderOf(owner)).toBe(owner.did);
    await chain.mine(FINAL);
    await look();
    expect(await holderOf(owner)).toBe(thief.did);
    expect(await challenges()).toEqual([]);
  });

  test('the operator gives back for thirty days', async () => {
    const { owner, thief, mined } = await challenged();
    await hours(73);
    expect(await holderOf(owner)).toBe(thief.did);
    const [row] = await t.rows('SELECT id FROM registrations WHERE holds = 1');
    expect((await t.call('POST /v1/console/registrations/undo', { id: row?.['id'] }, OPERATOR)).status).toBe(200);
    expect(await holderOf(owner)).toBe(owner.did);
    const again = await claim(thief, mined.txHash, { proof: true });
    expect([again.status, again.body.error]).toEqual([409, 'identifier_taken']);
    expect(again.body.retry_after).toBeGreaterThan(29 * 86_400);
    await hours(31 * 24);
    expect((await claim(thief, mined.txHash, { proof: true })).status).toBe(200);
  });

  test('does not move while the node is away, and does when it is back', async () => {
    const { owner, thief } = await challenged();
    isNodeAway = true;
    await hours(80);
    expect(await holderOf(owner)).toBe(owner.did);
    isNodeAway = false;
    await look();
    await look();
    expect(await holderOf(owner)).toBe(thief.did);
  });

  test('moves at once when its holder has ended its DID', async () => {
    const { owner, thief } = await challenged();
    await people.act(owner, 'deactivate', didHash(owner.did));
    await chain.mine(FINAL);
    await hours(1);
    expect(await holderOf(owner)).toBe(thief.did);
    expect(await eventsOf('registration.challenge_ended')).toMatchObject([{ did: thief.did, by: 'moved' }]);
  });

  test('moves as before where ADDRESS_MOVE_HOURS is 0', async () => {
    await t.stop();
    t = await start({ ADDRESS_MOVE_HOURS: '0' });
    const { owner, thief } = await challenged();
    expect(await holderOf(owner)).toBe(thief.did);
  });
});

describe('S2: a challenge', () => {
  /** What anybody may ask about an address, as it was answered; only the time of its newest code is left out. */
  async function asked({ identifier, channel }: Person) {
    const check = await t.call('GET /api/sessions/check', { identifier, channel });
    const status = await t.call('GET /api/verify/status', { identifier, channel });
    return [check.status, check.text, status.status, status.text.replace(/"verifiedAt":"[^"]+"/, '"verifiedAt":""')];
  }

  test('is not told from a registration by sessions/check and verify/status', async () => {
    const all = await held();
    const before = await asked(all.owner);
    expect(before[0]).toBe(200);
    await people.challenge(all);
    expect(await t.rows('SELECT 1 FROM challenges WHERE ended_at IS NULL')).toHaveLength(1);
    expect(await asked(all.owner)).toEqual(before);
  });

  test('ends when its holder renews by another passkey of its account, which gets a registration of its own', async () => {
    const { owner, thief, txHash } = await challenged();
    const other = { ...owner, credentialId: (await create('email')).credentialId };
    const renewed = await claim(other, txHash, { proof: true });
    expect([renewed.status, renewed.body.holds]).toEqual([200, undefined]);
    expect(await t.rows('SELECT did, lost FROM registrations ORDER BY id')).toEqual([
      { did: owner.did, lost: null },
      { did: thief.did, lost: 'withdrawn_by_holder' },
      { did: owner.did, lost: null },
    ]);
    expect(await t.rows('SELECT did, ended_by FROM challenges')).toEqual([{ did: thief.did, ended_by: 'holder' }]);
    expect(await holderOf(owner)).toBe(owner.did);
  });

  test('ends with an erasure of its address, and moves nothing afterwards', async () => {
    const { owner, thief } = await challenged();
    const { identifier } = owner;
    const erased = await t.call('POST /v1/console/person/erase', { identifier }, OPERATOR);
    expect(erased.status).toBe(200);
    await hours(100);
    expect(await holderOf(owner)).toBeUndefined();
    expect(await t.rows(`SELECT 1 FROM challenges WHERE ended_at IS NULL`)).toEqual([]);
    expect(JSON.stringify(await t.rows('SELECT * FROM challenges'))).not.toContain(identifier);
    expect((await lookup(thief)).proofs?.identifier ?? null).toBeNull();
    expect(t.entries.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
