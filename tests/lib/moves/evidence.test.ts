// Challenges of an address: the vault's statements and mover against the model, in random histories (completions-3, 2).
import { afterAll, describe, expect, test } from 'bun:test';
import { openDraw } from '../../support/draw.ts';
import { differenceIn, drawChallenges } from '../../support/evidence/challenge-history.ts';
import { type Fault, openChallengeStore } from '../../support/evidence/challenge-store.ts';
import { isLong } from '../../support/long.ts';
import { SEED } from '../../support/seed.ts';

const HISTORIES = isLong ? 100_000 : 20;
/** More than enough for every fault. */
const HISTORIES_OF_FAULT = 2_000;
/** Planted faults, each by the rule that it breaks. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'a wait does not begin anew': {
    sql: [
      [
        'moves_at = coalesce(moves_at, :moves_at)',
        'moves_at = coalesce(moves_at, (SELECT min(moves_at) FROM challenges AS one), :moves_at)',
      ],
    ],
  },
  'a claim without proof takes the place of the one that waits': {
    sql: [['final = 1 AND proof_key IS NOT NULL AND holds = 0', 'final = 1 AND holds = 0']],
  },
  'a renewal withdraws nothing': { sql: [["lost = 'withdrawn_by_holder', waits = 0", 'waits = waits']] },
  'an address moves by the vault’s clock alone': { chain: 'always ahead' },
  'an address moves while the node is away': { chain: 'never away' },
  'nobody asks for the bar of an undone claim': { sql: [["ended_by = 'undone' AND did = :did)", '0 AND did = :did)']] },
  'the wait of a refused DID is not doubled': { sql: [['min(count(*) - 1, 5)', '0']] },
  'others may take the place of the one that waits at any time': { sql: [["AND ended_by = 'replaced'", 'AND 0']] },
  'of two that are final at once the earlier one waits': { sql: [['ORDER BY max(id) DESC', 'ORDER BY max(id)']] },
  'a claim that waits holds the address': { sql: [['AND one.waits <> 1', '']] },
  'letting go lets everybody have it': { sql: [['did = :did AND waits <> 2', '(did = :did OR 1) AND waits <> 2']] },
  'a refused claim holds the address': { sql: [["status <> 'failed' AND one.lost IS NULL", "status <> 'failed'"]] },
  'a key of the holder waits too': {
    sql: [
      ['holder.controller_key AS holder_key', "'' AS holder_key"],
      ['holder.proof_key AS holder_proof_key', "'' AS holder_proof_key"],
    ],
  },
  'a wait begins though nobody has heard of it': { sql: [['count(sent_at)', 'count(*)']] },
  'an undone claim is opened again': { sql: [["status = 'failed' OR NOT EXISTS", 'NOT EXISTS']] },
  'an ended DID keeps its address': { sql: [['.active = 1 AND', '.active >= 0 AND']] },
};

const store = openChallengeStore();
afterAll(store.close);

async function firstDifference(seed: number, histories: number, fault: Fault = {}): Promise<string | undefined> {
  for (let i = 0; i < histories; i++) {
    const difference = await differenceIn(store, drawChallenges(openDraw(seed + i)), fault);
    if (difference) return `SEED=${seed + i}: ${difference}`;
  }
  return undefined;
}

test(`the vault moves an address as the model in ${HISTORIES} random histories`, async () => {
  const difference = await firstDifference(SEED, HISTORIES);
  if (difference) throw new Error(difference);
});

test('of two claims that become final in one turn the later one waits', async () => {
  const difference = await differenceIn(store, [
    { kind: 'claim', did: 'did:holder', hasProof: true },
    { kind: 'final', claim: 0 },
    { kind: 'claim', did: 'did:a', hasProof: true },
    { kind: 'claim', did: 'did:b', hasProof: true },
    { kind: 'final', claim: 1 },
    { kind: 'final', claim: 2 },
    { kind: 'work' },
  ]);
  expect(difference).toBeUndefined();
});

test('a DID is not refused by a holder who lets another one have the address', async () => {
  const difference = await differenceIn(store, [
    { kind: 'claim', did: 'did:holder', hasProof: true },
    { kind: 'final', claim: 0 },
    { kind: 'claim', did: 'did:b', hasProof: true },
    { kind: 'final', claim: 1 },
    { kind: 'work' },
    { kind: 'claim', did: 'did:a', hasProof: true },
    { kind: 'final', claim: 2 },
    { kind: 'release' },
    { kind: 'work' },
  ]);
  expect(difference).toBeUndefined();
});

test.each(['did:by controller', 'did:by key'])('%s of the holder’s does not wait', async (did) => {
  const steps: Parameters<typeof differenceIn>[1] = [
    { kind: 'claim', did: 'did:holder', hasProof: true },
    { kind: 'final', claim: 0 },
    { kind: 'claim', did, hasProof: true },
    { kind: 'final', claim: 1 },
    { kind: 'work' },
  ];
  expect(await differenceIn(store, steps)).toBeUndefined();
  const { claims } = (await store.state([], 0)) as { claims: unknown[][] };
  expect(claims.map(([claimant, holds]) => [claimant, holds])).toEqual([
    ['did:holder', 0],
    [did, 1],
  ]);
});

test('a claim that was undone while it waited is not opened again', async () => {
  const difference = await differenceIn(store, [
    { kind: 'claim', did: 'did:holder', hasProof: true },
    { kind: 'final', claim: 0 },
    { kind: 'claim', did: 'did:a', hasProof: true },
    { kind: 'final', claim: 1 },
    { kind: 'work' },
    { kind: 'undo', claim: 1 },
    { kind: 'work' },
  ]);
  expect(difference).toBeUndefined();
});

describe('the model tells a vault from one where', () => {
  for (const [name, fault] of Object.entries(FAULTS))
    test(name, async () => {
      expect(await firstDifference(1, HISTORIES_OF_FAULT, fault)).toBeDefined();
    });
});
