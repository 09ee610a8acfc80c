import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { TxEnvelopeEip1559 } from 'ox';
import { createPasskey, type Passkey } from '../../../scripts/dev-stack/passkey.ts';
import { whileTimePasses } from '../../support/clock.ts';
import { deployBurner, upgrade } from '../../support/gas-burner.ts';
import { startLiar } from '../../support/liar.ts';
import {
  attest,
  createOwner,
  DELAY,
  type Owner,
  recoveryBody,
  startRecoveryChain,
  startRecoveryVault,
  vetoOf,
} from '../../support/recovery.ts';
import { SEED } from '../../support/seed.ts';
import { type TestVault, VAULT_SECRET } from '../../support/vault.ts';

const chain = await startRecoveryChain();
const burner = await deployBurner(chain.rpc);
const node = startLiar({ target: chain.url, seed: SEED });
afterAll(async () => {
  await node.stop();
  await chain.stop();
});

let t: TestVault;
beforeEach(async () => {
  // A network has 5 % of the day's recoveries.
  t = await startRecoveryVault(chain, { RPC_URL: node.url, RECOVERIES_DAILY_MAX: '400' });
});
afterEach(async () => {
  node.lies.length = 0;
  await t.stop();
});

/** Later, for the vault and for the chain. */
async function later(seconds: number, turns = 4): Promise<void> {
  await t.clock.advance(seconds * 1000);
  await chain.wait(seconds, 3);
  for (let i = 0; i < turns; i++) await t.work();
}

let people = 0;
async function propose(): Promise<Owner & { readonly proposed: Passkey }> {
  const owner = await createOwner(chain, t, `person${++people}@example.com`);
  const proposed = createPasskey();
  await ask(owner, proposed);
  return { ...owner, proposed };
}

const ask = async (owner: Owner, passkey = createPasskey()) =>
  (await whileTimePasses(t.clock, t.call('POST /api/recoveries', { ...recoveryBody(t, owner, passkey) }))).body;
/** Asks again while it waits for a block: the vault's wait is over at once where a test's time passes. */
const askForVeto = async (veto: object) => {
  const once = () => whileTimePasses(t.clock, t.call('POST /api/recoveries/vetoes', { ...veto }));
  let reply = await once();
  while (reply.body.status === 'submitted') reply = await once();
  return reply;
};
const cancel = (account: string) => t.call('POST /v1/console/recoveries/cancel', { account }, operator);
const metric = async (line: string) =>
  (await t.call('GET /metrics')).text
    .split('\n')
    .find((one) => one.startsWith(`${line} `))
    ?.slice(line.length + 1);

const operator = { Authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };
const statusOf = async (smartAccount: string) =>
  (await t.call('GET /api/recoveries/status', { smartAccount })).body.recovery;
const sent = async () => Number(await chain.rpc('eth_getTransactionCount', [chain.guardian.address, 'latest']));
const ended = ({ account }: Owner) =>
  t.rows(
    `SELECT recipient FROM recovery_notices JOIN recoveries ON recoveries.id = recovery_id
      WHERE account = :account AND kind = 'ended' AND sent_at IS NOT NULL`,
    { account: account.toLowerCase() },
  );
/** The account's calls of a kind; the chain has accounts of the tests before. */
const callsOf = ({ account }: Owner, kind: string) =>
  t.rows(`SELECT * FROM relays WHERE kind = :kind AND target = :account ORDER BY id`, {
    kind,
    account: account.toLowerCase(),
  });

test('H3: an account that replaces its code during its recovery costs its guardian nothing more', async () => {
  const owner = await propose();
  await upgrade(chain.rpc, owner.account, burner);
  const before = await sent();
  await later(DELAY + 60);
  for (let i = 0; i < 16; i++) await later(660, 2);
  expect(await sent()).toBe(before);
  expect(await statusOf(owner.account)).toMatchObject({ status: 'failed', reason: 'upgraded', final: true });
  expect(await ended(owner)).toEqual([{ recipient: 'owner' }]);
});

test('H3: the operator’s cancel ends it, and costs nothing either', async () => {
  const owner = await propose();
  await upgrade(chain.rpc, owner.account, burner);
  const before = await sent();
  await later(60);
  expect((await cancel(owner.account)).status).toBe(200);
  const stopped = `SELECT channel, data, operator FROM events WHERE type = 'recovery.stopped'`;
  expect(await t.rows(stopped)).toEqual([
    { channel: 'audit', data: JSON.stringify({ account: owner.account.toLowerCase() }), operator: 'root' },
  ]);
  for (let i = 0; i < 8; i++) await later(660, 2);
  expect(await sent()).toBe(before);
  expect(await statusOf(owner.account)).toMatchObject({ status: 'failed', reason: 'upgraded', final: true });
});

test('H3: the turn that signs asks for the code again', async () => {
  const owner = await propose();
  const balance = String(await chain.rpc('eth_getBalance', [chain.guardian.address, 'latest']));
  await chain.rpc('anvil_setBalance', [chain.guardian.address, '0x1']);
  const before = await sent();
  await later(DELAY + 60);
  expect(await callsOf(owner, 'finish')).toMatchObject([{ status: 'queued' }]);
  await upgrade(chain.rpc, owner.account, burner);
  await chain.rpc('anvil_setBalance', [chain.guardian.address, balance]);
  for (let i = 0; i < 8; i++) await later(660, 2);
  expect(await sent()).toBe(before);
  expect(await callsOf(owner, 'finish')).toMatchObject([{ failure: 'upgraded' }]);
  expect(await statusOf(owner.account)).toMatchObject({ status: 'failed', reason: 'upgraded' });
});

describe('with a second node, a call of an account that only one of them takes for unchanged (§7.3)', () => {
  beforeEach(async () => {
    await t.stop();
    t = await startRecoveryVault(chain, {
      RPC_URL: node.url,
      RPC_WITNESS_URL: chain.url,
      RECOVERIES_DAILY_MAX: '400',
    });
  });

  /** The owner puts a gas burner under the account, and the first node hides it. */
  async function replaceUnseen({ account }: Owner): Promise<void> {
    await upgrade(chain.rpc, account, burner);
    node.lies.push(({ method, params }) =>
      method === 'eth_getStorageAt' && String(params[0]).toLowerCase() === account.toLowerCase()
        ? { result: `0x${'0'.repeat(64)}` }
        : undefined,
    );
  }

  /** Once the node tells the truth, the recovery ends, and the guardian has paid nothing. */
  async function endsAfterwards(owner: Owner, before: number): Promise<void> {
    expect(await sent()).toBe(before);
    node.lies.length = 0;
    for (let i = 0; i < 8; i++) await later(660, 2);
    expect(await sent()).toBe(before);
    expect(await statusOf(owner.account)).toMatchObject({ status: 'failed', reason: 'upgraded', final: true });
  }

  test('is not queued', async () => {
    const owner = await propose();
    await later(60);
    await replaceUnseen(owner);
    const before = await sent();
    await later(DELAY + 60);
    for (let i = 0; i < 4; i++) await later(660, 2);
    expect(await callsOf(owner, 'finish')).toEqual([]);
    await endsAfterwards(owner, before);
  });

  test('is not signed, if it is queued already', async () => {
    const owner = await propose();
    await later(60);
    const balance = String(await chain.rpc('eth_getBalance', [chain.guardian.address, 'latest']));
    await chain.rpc('anvil_setBalance', [chain.guardian.address, '0x1']);
    const before = await sent();
    await later(DELAY + 60);
    expect(await callsOf(owner, 'finish')).toMatchObject([{ status: 'queued' }]);
    await replaceUnseen(owner);
    await chain.rpc('anvil_setBalance', [chain.guardian.address, balance]);
    for (let i = 0; i < 4; i++) await later(660, 2);
    expect(await callsOf(owner, 'finish')).toMatchObject([{ status: 'queued' }]);
    await endsAfterwards(owner, before);
  });
});

test('a node that says once that the code is another delays a call, and ends nothing', async () => {
  const owner = await propose();
  let isTold = false;
  node.lies.push(({ method, params }) => {
    const isIt = method === 'eth_getStorageAt' && String(params[0]).toLowerCase() === owner.account.toLowerCase();
    if (isTold || !isIt || params[2] !== 'latest') return undefined;
    isTold = true;
    return { result: `0x${'11'.repeat(32)}` };
  });
  await later(DELAY + 60, 1);
  expect([isTold, (await t.rows('SELECT status FROM recoveries'))[0]]).toEqual([true, { status: 'proposed' }]);
  for (let i = 0; i < 3; i++) await later(60);
  expect(await statusOf(owner.account)).toMatchObject({ status: 'finished' });
});

test('a call that fails is tried six times, each pause twice the last; then it alerts, and may be withdrawn', async () => {
  const owner = await propose();
  // As a node says that is broken for a day: an unchanged account has no such reason.
  const error = { code: 3, message: 'execution reverted', data: '0xe5298400' };
  node.lies.push(({ method, params }) => {
    const [call] = params as [{ data?: string }];
    return method === 'eth_estimateGas' && call.data === '0xc7423803' ? { error } : undefined;
  });
  await later(DELAY + 60, 2);
  const status = async () => (await statusOf(owner.account)).status;
  for (let i = 0; i < 80 && (await status()) !== 'failed'; i++) await later(5 * 60, 2);
  const tries = await callsOf(owner, 'finish');
  expect(tries.map(({ failure }) => failure)).toEqual(Array(6).fill('too_many_keys'));
  const pauses = tries
    .slice(1)
    .map(({ created_at: at }, i) => (Number(at) - Number(tries[i]?.['created_at'])) / 60_000);
  expect(pauses.map((minutes) => 5 * Math.floor(minutes / 5))).toEqual([10, 20, 40, 80, 160]);
  expect(await statusOf(owner.account)).toMatchObject({ status: 'failed', reason: 'guardian' });
  expect(await metric('vault_guardian_given_up_total')).toBe('1');
  expect(await ended(owner)).toEqual([{ recipient: 'owner' }]);
  // The proposal is still the account's.
  expect((await cancel(owner.account)).status).toBe(200);
  for (let i = 0; i < 3; i++) await later(60);
  expect(await statusOf(owner.account)).toMatchObject({ status: 'cancelled', final: true });
  expect(await chain.events(owner.account)).toMatchObject({ proposed: 1, cancelled: 1, finished: 0 });
});

const giveUp = (failure: string) =>
  t.rows(`UPDATE recoveries SET status = 'failed', failure = '${failure}', final = 1, next_check_at = NULL,
    ended_at = created_at`);

for (const failure of ['guardian', 'upgraded']) {
  test(`an owner vetoes a recovery that was given up as ${failure} while its proposal is pending`, async () => {
    const owner = await propose();
    await later(60);
    await giveUp(failure);
    const veto = { smartAccount: owner.account, signature: vetoOf(owner, owner.proposed, 1) };
    expect((await askForVeto(veto)).body).toMatchObject({
      status: 'vetoed',
    });
    for (let i = 0; i < 3; i++) await later(60);
    expect(await statusOf(owner.account)).toMatchObject({ status: 'vetoed', final: true });
  });

  test(`and who has the address stops it, or asks for another key (${failure})`, async () => {
    const [one, two] = [await propose(), await propose()];
    await later(60);
    await giveUp(failure);
    const stop = { attestation: attest(t, one.email), smartAccount: one.account };
    expect((await whileTimePasses(t.clock, t.call('POST /api/recoveries/cancellations', stop))).status).toBe(202);
    await ask(two);
    for (let i = 0; i < 4; i++) await later(60);
    expect(await chain.events(one.account)).toMatchObject({ proposed: 1, cancelled: 1 });
    expect(await chain.events(two.account)).toMatchObject({ proposed: 2, cancelled: 1 });
  });
}

test('accounts that say more than any node answers hold up nobody’s recovery, and end if their code is another', async () => {
  const loud = await propose();
  // Rows of one account stand for fifty accounts: as many as a turn takes.
  for (let i = 0; i < 50; i++)
    await t.rows(`INSERT INTO recoveries (app, chain_id, account, key_x, key_y, label, commitment, is_foreign, status,
        contract_id, ready_at, proposed_at, proposed_block, read_block, created_at, next_check_at)
      SELECT app, chain_id, account, '0x${i.toString(16).padStart(64, '1')}', key_y, label, commitment, is_foreign, status,
        ${1000 + i}, ready_at, proposed_at, proposed_block, read_block, created_at, next_check_at - 1 FROM recoveries
      WHERE id = (SELECT min(id) FROM recoveries)`);
  await upgrade(chain.rpc, loud.account, burner);
  node.lies.push(({ method, params }) => {
    const [{ address = [] } = {}] = params as [{ address?: string | string[] }];
    const isAsked = method === 'eth_getLogs' && [address].flat().includes(loud.account.toLowerCase());
    return isAsked ? { error: { code: -32_005, message: 'query returned more than 10000 results' } } : undefined;
  });
  const honest = await propose();
  await later(DELAY + 60);
  for (let i = 0; i < 6; i++) await later(60);
  expect(await statusOf(honest.account)).toMatchObject({ status: 'finished' });
  expect(await statusOf(loud.account)).toMatchObject({ status: 'failed', reason: 'upgraded' });
});

test('a call is simulated at the price that is signed', async () => {
  const simulated: unknown[] = [];
  const signed: unknown[] = [];
  node.lies.push(({ method, params }) => {
    const [first] = params as [never];
    if (method === 'eth_estimateGas') simulated.push(pricesOf(first, BigInt));
    if (method === 'eth_sendRawTransaction') signed.push(pricesOf(TxEnvelopeEip1559.deserialize(first)));
    return undefined;
  });
  await propose();
  expect(signed).toHaveLength(1);
  expect(simulated).toEqual(signed);
});

type Prices = { readonly maxFeePerGas?: unknown; readonly maxPriorityFeePerGas?: unknown };
const pricesOf = ({ maxFeePerGas, maxPriorityFeePerGas }: Prices, read: (one: never) => unknown = (one) => one) =>
  [maxFeePerGas, maxPriorityFeePerGas].map((one) => read(one as never));

describe('the gas of a day', () => {
  const use = (gas: number) => t.rows(`UPDATE relay_attempts SET gas = ${gas}`);
  const waits = (budget: string) => metric(`vault_guardian_gas_full_total{budget="${budget}"}`);

  test('that an account has used holds up its recoveries until the day is over, and never a veto', async () => {
    const owner = await propose();
    await use(1_250_001);
    expect(await ask(owner)).toMatchObject({ status: 'submitted' });
    expect([await waits('account'), await waits('vault')]).toEqual([expect.stringMatching(/^[1-9]/), '0']);
    expect(await chain.events(owner.account)).toMatchObject({ proposed: 1, cancelled: 0 });
    const signature = vetoOf(owner, owner.proposed, 1);
    const veto = { smartAccount: owner.account, signature };
    expect((await askForVeto(veto)).body).toMatchObject({
      status: 'vetoed',
    });
    await later(60);
    expect(await chain.events(owner.account)).toMatchObject({ proposed: 1, vetoed: 1 });
    await later(86_400);
    await later(60);
    expect(await chain.events(owner.account)).toMatchObject({ proposed: 2, vetoed: 1 });
  });

  test('that strangers have used holds up no first finish and no withdrawal: anybody may finish on-chain', async () => {
    const [victim, patient, stranger] = [await propose(), await propose(), await propose()];
    const fill = () =>
      t.rows(
        `UPDATE relay_attempts SET gas = 200000000 WHERE relay_id IN (SELECT id FROM relays WHERE target = :account)`,
        { account: stranger.account.toLowerCase() },
      );
    const renew = () =>
      t.rows(`UPDATE relays SET created_at = :now WHERE target = :account`, {
        now: t.clock.now(),
        account: stranger.account.toLowerCase(),
      });
    await fill();
    const late = await createOwner(chain, t, `person${++people}@example.com`);
    expect(await ask(late)).toMatchObject({ status: 'submitted' });
    expect(await waits('vault')).toMatch(/^[1-9]/);
    expect((await cancel(victim.account)).status).toBe(200);
    for (let i = 0; i < 3; i++) await later(60);
    expect(await statusOf(victim.account)).toMatchObject({ status: 'cancelled', final: true });
    await t.clock.advance((DELAY + 60) * 1000);
    await chain.wait(DELAY + 60, 3);
    await renew();
    for (let i = 0; i < 3; i++) await later(60);
    expect(await statusOf(patient.account)).toMatchObject({ status: 'finished' });
  });

  test('an account’s last unit of it is enough', async () => {
    const owner = await propose();
    await use(1_250_000);
    await cancel(owner.account);
    for (let i = 0; i < 3; i++) await later(60);
    expect(await statusOf(owner.account)).toMatchObject({ status: 'cancelled', final: true });
  });

  test('that the vault has used holds up every account, and no veto', async () => {
    const first = await propose();
    await use(500_000 * 400 - 1_250_000 + 1);
    const second = await createOwner(chain, t, `person${++people}@example.com`);
    expect(await ask(second)).toMatchObject({ status: 'submitted' });
    expect([await waits('account'), await waits('vault')]).toEqual(['0', expect.stringMatching(/^[1-9]/)]);
    const veto = { smartAccount: first.account, signature: vetoOf(first, first.proposed, 1) };
    expect((await askForVeto(veto)).body).toMatchObject({
      status: 'vetoed',
    });
    await later(86_400);
    await later(60);
    expect(await chain.events(second.account)).toMatchObject({ proposed: 1 });
  });
});
