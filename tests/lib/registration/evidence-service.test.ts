import { afterAll, describe, test } from 'bun:test';
import { openDraw } from '../../support/draw.ts';
import { compare, play } from '../../support/evidence/compare.ts';
import { drawHistory } from '../../support/evidence/history.ts';
import * as model from '../../support/evidence/model.ts';
import { findMutant, MUTANTS } from '../../support/evidence/mutants.ts';
import { type OwnService, startService } from '../../support/evidence/service.ts';
import { credentialOf, newWorld, type Step } from '../../support/evidence/world.ts';
import { isLong } from '../../support/long.ts';
import { SEED } from '../../support/seed.ts';

// The vault over HTTP, on a real SQLite file, held against the model in the same random histories.

const HISTORIES = isLong ? 400 : 5;

const service = await startService(newWorld(model));
afterAll(service.stop);

test(`the vault answers as the model in ${HISTORIES} random histories`, async () => {
  for (let i = 0; i < HISTORIES; i++) {
    const steps = drawHistory(openDraw(SEED + i));
    const difference = await differenceIn(service, steps);
    if (difference) throw new Error(`SEED=${SEED + i}: ${difference}`);
  }
});

describe('the vault answers as the model where it matters whether', () => {
  for (const name of Object.keys(MUTANTS)) {
    test(name, async () => {
      const shortest = findMutant(name)?.steps ?? [];
      const difference = await differenceIn(service, [...shortest, ...LAST]);
      if (difference) throw new Error(difference);
    });
  }
});

test('the vault answers as the model after a re-org that takes a proven registration back', async () => {
  const difference = await differenceIn(service, [...LAST.slice(0, 2), { kind: 'reorg' }, ...LAST]);
  if (difference) throw new Error(difference);
});

test('the vault answers as the model when a relayed claim is mined that was drawn with an invented transaction', async () => {
  const did = 'did:thief:1';
  const asked = { by: 'thief', identifier: 'email:thief', did, credentialId: credentialOf('alice') } as const;
  const difference = await differenceIn(service, [
    { kind: 'post', ...asked, proof: 'signed', isReal: false, isRelayed: true },
    { kind: 'mine', did, handle: null },
  ]);
  if (difference) throw new Error(difference);
});

test('the vault answers as the model when a claim fails that its DID opened a session for', async () => {
  const did = 'did:alice:2';
  const [handle, credentialId] = ['handle:blue', credentialOf('alice')];
  const difference = await differenceIn(service, [
    { kind: 'session', handle, did },
    { kind: 'post', by: 'alice', identifier: handle, did, credentialId, proof: 'none' },
    { kind: 'undo', claim: 0 },
  ]);
  if (difference) throw new Error(difference);
});

/** What the owner does at the end of a history. */
const LAST: readonly Step[] = [
  { kind: 'mine', did: 'did:alice:1', handle: null },
  {
    kind: 'post',
    by: 'alice',
    identifier: 'email:alice',
    did: 'did:alice:1',
    credentialId: credentialOf('alice'),
    proof: 'signed',
  },
  { kind: 'finalize' },
];

/** Plays a history in both; returns the first difference. */
async function differenceIn(service: OwnService, steps: readonly Step[]): Promise<string | undefined> {
  const world = newWorld(model);
  service.world = world;
  await service.clear();
  /** The rows of the claims, by the model's ids. */
  const rows: number[] = [];
  const played: string[] = [];
  for (const step of steps) {
    played.push(JSON.stringify(step));
    try {
      await play(service, world, step, rows);
      await service.settle(step.kind === 'time passes');
      await compare(service, world, rows);
    } catch (failure) {
      return `${played.join('\n')}\n${failure instanceof Error ? failure.message : failure}`;
    }
  }
  return undefined;
}
