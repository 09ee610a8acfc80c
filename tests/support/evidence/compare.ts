import { deepStrictEqual, strictEqual } from 'node:assert';
import * as model from './model.ts';
import { IDENTIFIERS, type Service, storedKey } from './service.ts';
import {
  aliasOf,
  CREDENTIALS,
  claimsOn,
  holderIn,
  KEYS,
  keyOf,
  lookAtChain,
  mayProve,
  post,
  type Step,
  take,
  type World,
} from './world.ts';

// A vault held against the model, in the same world.

/**
 * Takes a step in the world and asks the vault for what people ask there. Throws where it answers otherwise than the
 * model. `rows` are those of the claims, by the model's ids.
 */
export async function play(service: Service, world: World, step: Step, rows: number[]): Promise<void> {
  if (step.kind === 'post') await playPost(service, world, step, rows);
  else if (step.kind === 'session') {
    const isFree = aliasOf(world, step.handle).now === null && !world.sessions.has(step.handle);
    if (aliasOf(world, step.handle).now === null) {
      const expected = isFree && !holderIn(world, step.handle) ? 'ok' : 'identifier_taken';
      judge(await service.openSession(step.handle, step.did), expected);
    }
    take(world, step);
  } else {
    if (step.kind === 'undo') await undo(service, world, rows[step.claim], step.claim);
    take(world, step);
  }
}

/** Compares all that the vault shows of the world with what the model says. Throws the difference. */
export async function compare(service: Service, world: World, rows: readonly number[]): Promise<void> {
  deepStrictEqual(await seenOf(service, rows), expectedOf(world));
}

/** Nobody knows which attempt an unsure answer is of: what is stored shows whether that is right. */
function judge(answer: string | number | undefined, expected: string | number): void {
  if (answer !== undefined) strictEqual(answer, expected);
}

/** Only a live claim can be undone, and one that was refused at once has no row. */
async function undo(service: Service, { claims }: World, row: number | undefined, claim: number): Promise<void> {
  if (row === undefined || row < 0) return;
  judge(await service.undo(row), claims[claim]?.isFailed ? 404 : 200);
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
    if (verdict !== 'retry') strictEqual(await service.relay(step, before), verdict === 'admitted');
    if (claim) rows[before] = await newestRow(service, rows);
    return;
  }
  const answer = await service.post(step);
  lookAtChain(world);
  // A wrong proof is refused at once, before any conflict, where the chain shows the controller already.
  const isWrong = step.proof === 'forged' || !mayProve(world, step.did, step.key ?? keyOf(step.by));
  const isRefused = answer === 'proof_invalid' && step.proof !== 'none' && isWrong;
  if (isRefused) strictEqual(claim === undefined || claim.isFailed, true);
  else judge(answer, verdict === 'admitted' || verdict === 'retry' ? 'ok' : verdict);
  if (claim) rows[before] = await newestRow(service, rows);
}

/** The row of a claim that was just made, and -1 where there is none: one that was refused at once. */
async function newestRow({ rows: query }: Service, known: readonly number[]): Promise<number> {
  const keys = IDENTIFIERS.map((one) => `'${storedKey(one)}'`);
  const [row] = await query(`SELECT max(id) AS id FROM registrations WHERE identifier IN (${keys})`);
  const id = Number(row?.['id']);
  return id > 0 && !known.includes(id) ? id : -1;
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
async function seenOf({ rows: query, lookUp, isAvailable }: Service, rows: readonly number[]) {
  const names = IDENTIFIERS.map(storedKey);
  const all = await query(`SELECT id, identifier, status, holds FROM registrations ORDER BY id`);
  const stored = all.filter((one) => names.includes(String(one['identifier'])));
  const idOf = (row: number) => rows.indexOf(row);
  const holderOf = (name: string) =>
    stored.find((one) => one['identifier'] === storedKey(name) && one['holds'] === 1)?.['id'] as number | undefined;
  const found = CREDENTIALS.flatMap((one) =>
    ASKED_KEYS.map(async (key) => [`${one} ${key}`, await lookUp(one, key)] as const),
  );
  const holders = IDENTIFIERS.map((one) => [
    one,
    holderOf(one) === undefined ? undefined : idOf(Number(holderOf(one))),
  ]);
  const available = IDENTIFIERS.map(async (one) => [one, await isAvailable(one)]);
  return {
    claims: stored.filter((one) => one['status'] !== 'failed').map((one) => idOf(Number(one['id']))),
    holders: Object.fromEntries(holders),
    available: Object.fromEntries(await Promise.all(available)),
    found: Object.fromEntries(await Promise.all(found)),
  };
}
