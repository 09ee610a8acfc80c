// Attacks on addresses that move slowly (S2), by people who know the rules.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { HOUR_MS } from '../../../lib/base/clock.ts';
import { CHALLENGE_VARS, createChallenges, FINAL, timeOfHead } from '../../support/challenges.ts';
import { testClock } from '../../support/clock.ts';
import { OPERATOR } from '../../support/events.ts';
import { startTestChain } from '../../support/onchain.ts';
import type { Person } from '../../support/people.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const chain = await startTestChain();
afterAll(chain.stop);

/** How a node answers that is `behind` blocks behind the chain. */
let behind = 0;
let t: TestVault;
beforeEach(async () => {
  behind = 0;
  const reach: typeof fetch = Object.assign(lagging, { preconnect: fetch.preconnect });
  t = await startVault(
    { ...chain.vars, ...CHALLENGE_VARS },
    { clock: testClock(await timeOfHead(chain)), fetch: reach },
  );
});
afterEach(() => t.stop());

/** The chain's node as one of its back ends that has not all blocks yet. */
async function lagging(...[url, init]: Parameters<typeof fetch>): Promise<Response> {
  if (behind === 0 || !String(url).startsWith(chain.url)) return fetch(url, init);
  const head = Number(await chain.rpc('eth_blockNumber', [])) - behind;
  const answer = async ({ id, method, params }: { id: number; method: string; params: unknown[] }) => {
    const hex = `0x${head.toString(16)}`;
    if (method === 'eth_blockNumber') return { jsonrpc: '2.0', id, result: hex };
    const at = params.map((one) => (one === 'latest' ? hex : one));
    const result = (await chain.rpc(method, at).catch(() => null)) as { blockNumber?: string; number?: string } | null;
    const block = result?.blockNumber ?? result?.number;
    return { jsonrpc: '2.0', id, result: block !== undefined && Number(block) > head ? null : result };
  };
  const asked = JSON.parse(String(init?.body));
  const answered = Array.isArray(asked) ? await Promise.all(asked.map(answer)) : await answer(asked);
  return Response.json(answered);
}

const people = createChallenges(chain, () => t);
const { create, held, hours, holderOf, look, publish } = people;
const claim: typeof people.claim = (...given) => people.claim(...given);

describe('who has taken an address', () => {
  test('does not keep it by a second claim of the same DID when the first is undone', async () => {
    const all = await held();
    const { owner, thief, mined } = all;
    await people.challenge(all);
    const other: Person = { ...thief, credentialId: (await create('email')).credentialId };
    expect((await claim(other, mined.txHash, { proof: true })).status).toBe(200);
    await hours(73);
    expect(await holderOf(owner)).toBe(thief.did);
    const [row] = await t.rows('SELECT id FROM registrations WHERE holds = 1');
    const undone = await t.call('POST /v1/console/registrations/undo', { id: row?.['id'] }, OPERATOR);
    expect([undone.status, undone.body.holder.did]).toEqual([200, owner.did]);
    await look();
    expect(await holderOf(owner)).toBe(owner.did);
  });
});

describe('who waits for an address', () => {
  test('is not hidden from its holder by strangers who name the holder’s credential', async () => {
    const all = await held();
    const { owner, thief, txHash } = all;
    await people.challenge(all);
    for (let i = 0; i < 50; i++) {
      const stranger = { ...(await create('email')), credentialId: owner.credentialId };
      expect((await claim(stranger, (await publish(stranger)).txHash, { proof: true })).status).toBe(200);
    }
    expect((await claim(owner, txHash, { proof: true })).status).toBe(200);
    expect(await t.rows(`SELECT did FROM registrations WHERE lost = 'withdrawn_by_holder'`)).toEqual([
      { did: thief.did },
    ]);
    await hours(73);
    expect(await holderOf(owner)).toBe(owner.did);
  });

  test('does not get it while the node lags behind what it has called final', async () => {
    const all = await held();
    const { owner, thief } = all;
    await people.challenge(all);
    const finals = () => t.rows('SELECT did, final, holds FROM registrations ORDER BY id');
    const before = await finals();
    expect(before).toEqual([
      { did: owner.did, final: 1, holds: 1 },
      { did: thief.did, final: 1, holds: 0 },
    ]);
    behind = 2 * FINAL + 4;
    for (let i = 0; i < 10; i++) await look();
    expect(await finals()).toEqual(before);
    expect(t.entries.some(({ event }) => event === 'chain_unreadable')).toBe(true);
    behind = 0;
    await look();
    await look();
    expect(await finals()).toEqual(before);
  });

  test('has to wait for the time that no vault was there, in which nobody could keep the address', async () => {
    const all = await held();
    const { owner, thief, txHash } = all;
    await people.challenge(all);
    const movesAt = async () => Date.parse((await people.lookup(thief)).moves_at);
    const first = await movesAt();
    await hours(48);
    await hours(100, { away: true });
    expect(await holderOf(owner)).toBe(owner.did);
    expect((await movesAt()) - first).toBeWithin(100 * HOUR_MS, 101 * HOUR_MS);
    await hours(22);
    expect(await holderOf(owner)).toBe(owner.did);
    expect((await claim(owner, txHash, { proof: true })).status).toBe(200);
    await hours(73);
    expect(await holderOf(owner)).toBe(owner.did);
  });

  test('has the address when the rest of its wait is over', async () => {
    const all = await held();
    await people.challenge(all);
    await hours(100, { away: true });
    await hours(71);
    expect(await holderOf(all.owner)).toBe(all.owner.did);
    await hours(2);
    expect(await holderOf(all.owner)).toBe(all.thief.did);
  });
});
