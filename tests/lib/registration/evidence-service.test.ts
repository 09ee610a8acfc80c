import { afterAll, describe, expect, test } from 'bun:test';
import * as model from '../../../lib/registration/evidence.ts';
import { openDraw } from '../../support/draw.ts';
import { drawHistory, findBroken } from '../../support/evidence/history.ts';
import { MUTANTS } from '../../support/evidence/mutants.ts';
import { IDENTIFIERS, type Service, startService, storedKey } from '../../support/evidence/service.ts';
import {
  aliasOf,
  CREDENTIALS,
  claimsOn,
  credentialOf,
  holderIn,
  KEYS,
  keyOf,
  lookAtChain,
  mayProve,
  newWorld,
  post,
  type Step,
  take,
  type World,
} from '../../support/evidence/world.ts';
import { isLong } from '../../support/long.ts';
import { SEED } from '../../support/seed.ts';

// The vault over HTTP, on a real SQLite file, held against the model in the same random histories.

const HISTORIES = isLong ? 400 : 12;

const service = await startService(newWorld(model));
afterAll(service.stop);

test(`the vault answers as the model in ${HISTORIES} random histories`, async () => {
  for (let i = 0; i < HISTORIES; i++) {
    const steps = drawHistory(openDraw(SEED + i));
    const difference = await differenceIn(service, steps);
    if (difference) throw new Error(`SEED=${SEED + i}: ${difference}`);
  }
}, 600_000);

describe('the vault answers as the model where it matters whether', () => {
  for (const [name, mutant] of Object.entries(MUTANTS)) {
    test(name, async () => {
      const shortest = findBroken({ ...model, ...mutant }, 1, 20_000)?.steps ?? [];
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
async function differenceIn(service: Service, steps: readonly Step[]): Promise<string | undefined> {
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
      expect(await seenOf(service, rows)).toEqual(expectedOf(world));
    } catch (failure) {
      return `${played.join('\n')}\n${failure instanceof Error ? failure.message : failure}`;
    }
  }
  return undefined;
}

async function play(service: Service, world: World, step: Step, rows: number[]): Promise<void> {
  if (step.kind === 'post') await playPost(service, world, step, rows);
  else if (step.kind === 'session') {
    const isFree = aliasOf(world, step.handle).now === null && !world.sessions.has(step.handle);
    if (aliasOf(world, step.handle).now === null) {
      const expected = isFree && !holderIn(world, step.handle) ? 'ok' : 'identifier_taken';
      expect(await service.openSession(step.handle, step.did)).toBe(expected);
    }
    take(world, step);
  } else {
    if (step.kind === 'undo') await undo(service, world, rows[step.claim], step.claim);
    take(world, step);
  }
  await service.settle(step.kind === 'time passes');
}

/** Only a live claim can be undone, and one that was refused at once has no row. */
async function undo(service: Service, { claims }: World, row: number | undefined, claim: number): Promise<void> {
  if (row === undefined || row < 0) return;
  expect(await service.undo(row)).toBe(claims[claim]?.isFailed ? 404 : 200);
}

async function playPost(
  service: Service,
  world: World,
  step: Extract<Step, { kind: 'post' }>,
  rows: number[],
): Promise<void> {
  const before = world.claims.length;
  const verdict = post(world, step);
  if (verdict === undefined) return;
  const claim = world.claims[before];
  if (step.isRelayed) {
    // A retry joins the relay.
    if (verdict !== 'retry') expect(await service.relay(step, before)).toBe(verdict === 'admitted');
    if (claim) rows[before] = await newestRow(service);
    return;
  }
  const answer = await service.post(step);
  lookAtChain(world);
  // A wrong proof is refused at once, before any conflict, where the chain shows the controller already.
  const isWrong = step.proof === 'forged' || !mayProve(world, step.did, step.key ?? keyOf(step.by));
  if (answer === 'proof_invalid' && step.proof !== 'none' && isWrong) {
    expect(claim === undefined || claim.isFailed).toBe(true);
    if (claim) rows[before] = -1;
  } else {
    expect(answer).toBe(verdict === 'admitted' || verdict === 'retry' ? 'ok' : verdict);
    if (claim) rows[before] = await newestRow(service);
  }
}

async function newestRow({ vault }: Service): Promise<number> {
  const [row] = await vault.rows('SELECT max(id) AS id FROM registrations');
  return Number(row?.['id']);
}

/** What the model says of the world. */
function expectedOf(world: World) {
  return {
    claims: world.claims.filter(({ isFailed }) => !isFailed).map(({ id }) => id),
    holders: Object.fromEntries(IDENTIFIERS.map((one) => [one, holderIn(world, one)?.id])),
    available: Object.fromEntries(IDENTIFIERS.map((one) => [one, isFree(world, one)])),
    found: Object.fromEntries(
      CREDENTIALS.flatMap((one) => ASKED_KEYS.map((key) => [`${one} ${key}`, foundIn(world, one, key)])),
    ),
  };
}

const ASKED_KEYS = [null, ...KEYS];

function isFree(world: World, identifier: string): boolean {
  return aliasOf(world, identifier).now === null && !holderIn(world, identifier) && !world.sessions.has(identifier);
}

function foundIn(world: World, credential: string, key: string | null) {
  const found = model.lookUp(claimsOn(world, credential), key);
  if (!found) return null;
  const { claim, status, isAmbiguous } = found;
  return {
    did: claim.did,
    channel: claim.channel,
    status,
    final: claim.isFinal,
    proven: model.isProven(found),
    proofs: model.proofsOf(claim, holderIn(world, claim.identifier), aliasOf(world, claim.identifier).now),
    ambiguous: isAmbiguous,
    key: claim.proofKey,
  };
}

/** What the vault says of it. */
async function seenOf({ vault, lookUp, isAvailable }: Service, rows: readonly number[]) {
  const stored = await vault.rows(`SELECT id, identifier, status, holds FROM registrations ORDER BY id`);
  const idOf = (row: number) => rows.indexOf(row);
  const holderOf = (name: string) =>
    stored.find((one) => one['identifier'] === storedKey(name) && one['holds'] === 1)?.['id'] as number | undefined;
  const found: [string, unknown][] = [];
  for (const one of CREDENTIALS) for (const key of ASKED_KEYS) found.push([`${one} ${key}`, await lookUp(one, key)]);
  const holders = IDENTIFIERS.map((one) => [
    one,
    holderOf(one) === undefined ? undefined : idOf(Number(holderOf(one))),
  ]);
  const available = IDENTIFIERS.map(async (one) => [one, await isAvailable(one)]);
  return {
    claims: stored.filter((one) => one['status'] !== 'failed').map((one) => idOf(Number(one['id']))),
    holders: Object.fromEntries(holders),
    available: Object.fromEntries(await Promise.all(available)),
    found: Object.fromEntries(found),
  };
}
