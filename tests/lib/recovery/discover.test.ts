import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { addressOf, devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { startLiar } from '../../support/liar.ts';
import type { Outcome } from '../../support/node-faults.ts';
import {
  attest,
  createOwner,
  nameGuardian,
  type Owner,
  offerFor,
  proposeElsewhere,
  setGuardian,
  startRecoveryChain,
  startRecoveryVault,
} from '../../support/recovery.ts';
import { createSecond } from '../../support/second-account.ts';
import { SEED } from '../../support/seed.ts';
import { until } from '../../support/until.ts';
import { type TestVault, VAULT_SECRET } from '../../support/vault.ts';

const chain = await startRecoveryChain();
const node = startLiar({ target: chain.url, seed: SEED });
afterAll(async () => {
  await node.stop();
  await chain.stop();
});

let t: TestVault;
beforeEach(async () => {
  t = await start();
});
afterEach(async () => {
  node.lies.length = 0;
  await t.stop();
});

const start = (vars: Record<string, string | undefined> = {}) =>
  startRecoveryVault(chain, { RPC_URL: node.url, ...vars });

const DAY = 86_400;
const NOBODY = `0x${'0'.repeat(40)}` as const;
const OPERATOR = { Authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };
/** keccak256 of the event of a proposal. */
const RECOVERY_PROPOSED = '0x6615989fafa53e941a205146cfc318199e4fb7952669e442e358ae30e3639737';
/** Of ERC-1967. */
const SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
/** Code that answers 1.1 MB to any call. */
const MEGABYTE = '0x6210c8e05ff3';

/** Code that says so often, in one transaction, that it names a guardian. */
const crowdOf = (times: number, guardian: string) =>
  `0x61${times.toString(16).padStart(4, '0')}5b73${guardian.slice(2)}7f${GUARDIAN_SET}60405fa2600190038060035700`;
const GUARDIAN_SET = '647021871fce8d0aa9d570209fc4412f66774a061a09a24770fc4dc5d10e7330';

/** Later, for the vault and for the chain. */
async function later(seconds: number, turns = 4): Promise<void> {
  await t.clock.advance(seconds * 1000);
  await chain.wait(seconds, 3);
  for (let i = 0; i < turns; i++) await t.work();
}

/** Somebody with an account that has no guardian yet. */
async function newcomer(email: string): Promise<Owner> {
  const passkey = createPasskey();
  return { account: await createSecond(chain.rpc, chain.contracts, passkey.key), passkey, email };
}

/** What people and the operator hear when a thief of the guardian's key proposes a key for the account. */
async function theft(owner: Owner, commitment: string) {
  const { account } = owner;
  // Accounts of the tests before may have proposals too.
  const before = await foreign();
  await proposeElsewhere(chain, account, commitment);
  await later(61);
  await later(61);
  const logged = t.entries.filter(
    (entry) => entry.event === 'guardian_key_used_elsewhere' && entry['account'] === account.toLowerCase(),
  );
  return {
    mailed: await mailedTo(owner),
    logged: logged.length,
    counted: (await foreign()) - before,
  };
}

const keyOf = ({ account }: Owner) => ({ account: account.toLowerCase() });
const rowsOf = (owner: Owner) => t.rows('SELECT * FROM recovery_addresses WHERE account = :account', keyOf(owner));

/** Whom mails about the account's recovery went to. */
async function mailedTo(owner: Owner) {
  const sent = await t.rows(
    `SELECT recoveries.identifier FROM recovery_notices JOIN recoveries ON recoveries.id = recovery_id
      WHERE account = :account AND kind = 'started' AND recipient = 'owner' AND sent_at IS NOT NULL`,
    keyOf(owner),
  );
  return sent.map(({ identifier }) => identifier);
}

/** What the node answers when it is asked for the account's code. */
function lieAbout({ account }: Owner, answer: () => Outcome | undefined): void {
  node.lies.push(({ method, params }) =>
    method === 'eth_getCode' && String(params[0]).toLowerCase() === account.toLowerCase() ? answer() : undefined,
  );
}

async function metric(line: string): Promise<number> {
  const { text } = await t.call('GET /metrics');
  const found = text.split('\n').find((one) => one.startsWith(`${line} `));
  return Number(found?.slice(line.length + 1));
}

const foreign = () => metric('vault_recoveries_foreign_total');

const heardBy = ({ email }: Owner) => ({ mailed: [`email:${email}`], logged: 1, counted: 1 });

test('G0: a proposal by another copy of the key is mailed about, and alerts', async () => {
  const owner = await createOwner(chain, t, 'control@example.com');
  const { commitment } = await offerFor(t, owner.account, owner.email);
  await later(700);
  expect(await theft(owner, commitment)).toEqual(heardBy(owner));
});

for (const days of [2, 20])
  test(`G1: also where the guardian was named ${days} days after the commitment was made`, async () => {
    const owner = await newcomer(`cold${days}@example.com`);
    const offer = await offerFor(t, owner.account, owner.email);
    for (let day = 0; day < days; day++) await later(DAY);
    await setGuardian(chain, owner.account, offer);
    const { body } = await t.call('POST /api/recoveries/accounts', { attestation: attest(t, owner.email) });
    expect(body.accounts).toEqual([owner.account.toLowerCase()]);
    await later(61);
    expect(await theft(owner, offer.commitment)).toEqual(heardBy(owner));
  });

test('G1: also where it was forgotten before: the scan alerts, and a registration of the account is mailed to', async () => {
  const [stranger, registered] = [await newcomer('forgotten@example.com'), await newcomer('kept@example.com')];
  const offers = [];
  for (const one of [stranger, registered]) offers.push(await offerFor(t, one.account, one.email));
  for (let day = 0; day < 31; day++) await later(DAY);
  expect([await rowsOf(stranger), await rowsOf(registered)]).toEqual([[], []]);
  await t.rows(
    `INSERT INTO registrations (identifier, channel, app, did, did_hash, alias_hash, credential_id, tx_hash, status,
      holds, final, controller, proof_key, registered_at, unseen_since)
      VALUES (:identifier, 'email', 'default', :did, '', '', 'kept', '', 'confirmed', 1, 1, :account, 'key', 1, 1)`,
    {
      identifier: `email:${registered.email}`,
      did: `did:pkh:eip155:84532:${registered.account.toLowerCase()}`,
      account: registered.account.toLowerCase(),
    },
  );
  for (const [n, one] of [stranger, registered].entries()) {
    const offer = offers[n] as Awaited<ReturnType<typeof offerFor>>;
    await setGuardian(chain, one.account, offer);
    await later(61);
    const identifier = n === 0 ? '' : `email:${one.email}`;
    expect(await rowsOf(one)).toMatchObject([{ is_used: 1, identifier }]);
    // Nobody knows the stranger's address any more: a commitment does not say it.
    expect(await theft(one, offer.commitment)).toEqual({ ...heardBy(one), ...(n === 0 ? { mailed: [] } : {}) });
  }
});

test('G2: also after a node answered once, at the monthly look, that there is no such account', async () => {
  const owner = await newcomer('month@example.com');
  const commitment = await nameGuardian(chain, t, owner);
  await later(700);
  let told = 0;
  lieAbout(owner, () => (told++ === 0 ? { result: '0x' } : undefined));
  await later(30 * DAY + 3_600);
  expect(told).toBeGreaterThan(0);
  expect(await theft(owner, commitment)).toEqual(heardBy(owner));
});

test('G3: also where strangers have named twenty contracts that answer 1.1 MB', async () => {
  for (let i = 0; i < 20; i++) {
    const contract = `0x${i.toString(16).padStart(40, 'e')}`;
    await chain.rpc('anvil_setCode', [contract, MEGABYTE]);
    await offerFor(t, contract, `mallory${i % 2}@example.com`);
  }
  await later(660);
  const owner = await newcomer('late@example.com');
  const commitment = await nameGuardian(chain, t, owner);
  await later(700);
  await later(3_600);
  expect(await theft(owner, commitment)).toEqual(heardBy(owner));
});

test('G2: nor by days of such answers, where the second node says otherwise', async () => {
  const both = await start({ RPC_WITNESS_URL: chain.url });
  const owner = await newcomer('witness@example.com');
  const commitment = await nameGuardian(chain, both, owner);
  await t.stop();
  t = both;
  await later(700);
  lieAbout(owner, () => ({ result: '0x' }));
  await later(30 * DAY + 3_600);
  for (let day = 0; day < 5; day++) await later(DAY);
  node.lies.length = 0;
  expect(await theft(owner, commitment)).toEqual(heardBy(owner));
});

test('an account is forgotten after it was without the commitment on three days', async () => {
  const owner = await createOwner(chain, t, 'gone@example.com');
  const known = async () => (await rowsOf(owner)).length;
  await later(700);
  await setGuardian(chain, owner.account, { guardian: NOBODY, commitment: `0x${'0'.repeat(64)}` }, 0);
  await later(30 * DAY);
  expect(await rowsOf(owner)).toMatchObject([{ is_used: 1, misses: 1 }]);
  for (let i = 0; i < 4; i++) await later(3_600);
  expect(await rowsOf(owner)).toMatchObject([{ misses: 1 }]);
  await later(DAY);
  expect(await rowsOf(owner)).toMatchObject([{ misses: 2 }]);
  await later(DAY);
  expect(await known()).toBe(0);
});

test('a commitment that no account ever had is forgotten after 30 days', async () => {
  const owner = await newcomer('never@example.com');
  await offerFor(t, owner.account, owner.email);
  for (let day = 0; day < 29; day++) await later(DAY);
  expect(await rowsOf(owner)).toMatchObject([{ is_used: 0 }]);
  await later(DAY);
  await later(DAY);
  expect(await rowsOf(owner)).toEqual([]);
});

test('a guarded account that this database never heard of is found by the chain, and its theft alerts', async () => {
  const owner = await newcomer('elsewhere@example.com');
  const other = await start();
  const { guardian, commitment } = await offerFor(other, owner.account, owner.email);
  await other.stop();
  await setGuardian(chain, owner.account, { guardian, commitment });
  await later(61);
  expect(await rowsOf(owner)).toMatchObject([{ is_used: 1, identifier: '' }]);
  expect(await theft(owner, commitment)).toMatchObject({ logged: 1, counted: 1 });
  // Who proves the address meanwhile is known from then on.
  await offerFor(t, owner.account, owner.email);
  expect(await rowsOf(owner)).toMatchObject([{ is_used: 1, identifier: `email:${owner.email}` }]);
});

test('an account that names another commitment each minute fills no table', async () => {
  const owner = await newcomer('churn@example.com');
  for (let i = 1; i <= 14; i++) {
    const commitment = `0x${i.toString(16).padStart(64, '0')}` as const;
    await setGuardian(chain, owner.account, { guardian: chain.guardian.address, commitment });
    await later(61);
  }
  expect((await rowsOf(owner)).map(({ commitment }) => Number(commitment))).toEqual([
    5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
  ]);
});

test('the account of an erased person stays watched, without the address', async () => {
  const owner = await newcomer('erased@example.com');
  const commitment = await nameGuardian(chain, t, owner);
  await later(61);
  const person = { channel: 'email', identifier: owner.email };
  expect((await t.call('POST /v1/console/person/erase', person, OPERATOR)).status).toBe(200);
  expect(await rowsOf(owner)).toMatchObject([{ is_used: 1, identifier: '' }]);
  expect(await theft(owner, commitment)).toMatchObject({ logged: 1, counted: 1, mailed: [] });
});

test('an account that named a former guardian, of which this database never heard, is found by the chain', async () => {
  const folder = temporaryFolder();
  const key = `0x${'49'.repeat(32)}` as const;
  await chain.rpc('anvil_setBalance', [addressOf(key), '0xde0b6b3a7640000']);
  const former = await startRecoveryVault(chain, { GUARDIAN_PRIVATE_KEY: key }, { dir: folder.path });
  await former.work();
  await former.stop();
  const owner = await newcomer('unheard@example.com');
  const other = await startRecoveryVault(chain, { GUARDIAN_PRIVATE_KEY: key });
  const commitment = await nameGuardian(chain, other, owner);
  await other.stop();
  await t.stop();
  t = await startRecoveryVault(chain, { RPC_URL: node.url }, { dir: folder.path });
  await later(61);
  expect(await rowsOf(owner)).toMatchObject([{ is_used: 1, identifier: '' }]);
  const before = await foreign();
  await proposeElsewhere(chain, owner.account, commitment, key);
  for (let i = 0; i < 2; i++) await later(61);
  expect((await foreign()) - before).toBe(1);
  await t.stop();
  folder.remove();
  t = await start();
});

test('the key of a former guardian is watched too; its proposals are neither finished nor withdrawn', async () => {
  const folder = temporaryFolder();
  const key = `0x${'48'.repeat(32)}` as const;
  await chain.rpc('anvil_setBalance', [addressOf(key), '0xde0b6b3a7640000']);
  const former = await startRecoveryVault(chain, { GUARDIAN_PRIVATE_KEY: key }, { dir: folder.path });
  const owner = await newcomer('former@example.com');
  const commitment = await nameGuardian(chain, former, owner);
  await former.clock.advance(700_000);
  await former.work();
  await former.stop();
  await t.stop();
  t = await startRecoveryVault(chain, { RPC_URL: node.url }, { dir: folder.path });
  await later(61);
  const before = await foreign();
  await proposeElsewhere(chain, owner.account, commitment, key);
  await later(61);
  await later(61);
  expect((await foreign()) - before).toBe(1);
  expect(await mailedTo(owner)).toEqual([`email:${owner.email}`]);
  await t.call('POST /v1/console/recoveries/cancel', { account: owner.account }, OPERATOR);
  for (let day = 0; day < 4; day++) await later(DAY);
  const calls = await t.rows('SELECT kind FROM relays WHERE target = :account', keyOf(owner));
  expect(calls).toEqual([]);
  await t.stop();
  folder.remove();
  t = await start();
});

test('a node that hides the events of a block that is final in one answer hides no theft', async () => {
  await t.stop();
  t = await start({ FINALITY_BLOCKS: '0' });
  const owner = await createOwner(chain, t, 'hidden@example.com');
  const commitment = String((await t.rows('SELECT commitment FROM recovery_addresses'))[0]?.['commitment']);
  await later(700);
  await later(61);
  const before = await foreign();
  await proposeElsewhere(chain, owner.account, commitment);
  let told = 0;
  node.lies.push(({ method, params }) => {
    const [{ address } = {}] = params as [{ address?: string | string[] }];
    return method === 'eth_getLogs' && Array.isArray(address) && told++ === 0 ? { result: [] } : undefined;
  });
  for (let i = 0; i < 3; i++) await later(61);
  expect([told > 1, (await foreign()) - before]).toEqual([true, 1]);
});

test('an account that said by other code what it was not proposed raises one alarm, not hundreds', async () => {
  const owner = await createOwner(chain, t, 'alarmist@example.com');
  await later(700);
  await later(61);
  const before = await foreign();
  const { number } = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { number: string };
  // As its owners make them: an upgrade, such events, and the factory's code again, in one transaction.
  const word = (value: number) => value.toString(16).padStart(64, '0');
  const logs = Array.from({ length: 200 }, (_, i) => ({
    address: owner.account,
    topics: [
      RECOVERY_PROPOSED,
      `0x${word(i + 1)}`,
      `0x${chain.guardian.address.slice(2).toLowerCase().padStart(64, '0')}`,
    ],
    data: `0x${word(i + 7)}${word(i + 8)}${word(4_000_000_000)}${word(0)}`,
    blockNumber: number,
    transactionHash: `0x${word(9)}`,
  }));
  node.lies.push(({ method, params }) => {
    const [{ address, topics = [] } = {}] = params as [{ address?: string | string[]; topics?: unknown[] }];
    const isAsked = method === 'eth_getLogs' && [address].flat().includes(owner.account.toLowerCase());
    return isAsked && topics.length === 3 ? { result: logs } : undefined;
  });
  for (let i = 0; i < 4; i++) await later(61);
  expect((await foreign()) - before).toBe(1);
});

test('a node that answers for another chain in one turn blinds the watch in that turn alone', async () => {
  await t.stop();
  t = await start({ FINALITY_BLOCKS: '0' });
  const owner = await newcomer('misled@example.com');
  const head = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as object;
  // The vault's first turn, in which there is nothing to compare with.
  node.lies.push(({ method, params }) => {
    if (method === 'eth_blockNumber') return { result: '0x2000000' };
    const isHead = method === 'eth_getBlockByNumber' && params[0] === 'latest';
    return isHead ? { result: { ...head, number: '0x2000000' } } : undefined;
  });
  for (let i = 0; i < 2; i++) await t.work();
  node.lies.length = 0;
  const commitment = await nameGuardian(chain, t, owner);
  await later(700);
  expect(await theft(owner, commitment)).toEqual(heardBy(owner));
  const elsewhere = await newcomer('found@example.com');
  const other = await start();
  const offer = await offerFor(other, elsewhere.account, elsewhere.email);
  await other.stop();
  await setGuardian(chain, elsewhere.account, offer);
  await later(61);
  expect(await rowsOf(elsewhere)).toMatchObject([{ is_used: 1 }]);
});

describe('what a node does not answer', () => {
  test('of events in any form is a failure that is said, and the scan reads receipts instead', async () => {
    await createOwner(chain, t, 'form@example.com');
    await later(61);
    const owner = await newcomer('receipts@example.com');
    await nameGuardian(chain, t, owner);
    node.lies.push(({ method }) => (method === 'eth_getLogs' ? { result: [null, { topics: 7 }] } : undefined));
    for (let i = 0; i < 8; i++) await later(600);
    expect([await failing('scan'), (await failing('proposals')) > 3_600]).toEqual([0, true]);
    expect(await rowsOf(owner)).toMatchObject([{ is_used: 1 }]);
    node.lies.length = 0;
    for (let i = 0; i < 2; i++) await later(61);
    expect([await failing('scan'), await failing('proposals')]).toEqual([0, 0]);
  });

  const failing = (look: string) => metric(`vault_guardian_watch_failing_seconds{look="${look}"}`);

  test('of one account holds up no other, and is said after an hour', async () => {
    const bad = await createOwner(chain, t, 'bad@example.com');
    lieAbout(bad, () => ({ error: { code: -32_603, message: 'internal error' } }));
    await later(700);
    expect(await rowsOf(bad)).toMatchObject([{ failing_since: expect.any(Number) }]);
    const good = await createOwner(chain, t, 'good@example.com');
    for (let i = 0; i < 8; i++) await later(700);
    expect(await rowsOf(good)).toMatchObject([{ is_used: 1, failing_since: null }]);
    expect([(await failing('accounts')) > 3_600, await failing('proposals')]).toEqual([true, 0]);
    node.lies.length = 0;
    for (let i = 0; i < 2; i++) await later(3_660);
    expect(await failing('accounts')).toBe(0);
  });

  test('of the events is said after an hour, and read once it answers', async () => {
    await createOwner(chain, t, 'before@example.com');
    await later(61);
    node.lies.push(({ method }) =>
      method === 'eth_getLogs' ? { error: { code: -32_603, message: 'no' } } : undefined,
    );
    const owner = await createOwner(chain, t, 'logs@example.com');
    for (let i = 0; i < 8; i++) await later(600);
    expect([(await failing('scan')) > 3_600, (await failing('proposals')) > 3_600]).toEqual([true, true]);
    expect(t.entries.filter(({ event, level }) => event === 'guardian_watch_failed' && level === 'warn')).toHaveLength(
      2,
    );
    node.lies.length = 0;
    await later(61);
    await later(61);
    expect([await failing('scan'), await failing('proposals')]).toEqual([0, 0]);
    expect(await rowsOf(owner)).toMatchObject([{ is_used: 1 }]);
  });

  test('of a block that a stranger fills with such events is read transaction by transaction', async () => {
    await later(61);
    const owner = await newcomer('crowd@example.com');
    const offer = await offerFor(t, owner.account, owner.email);
    const spammer = `0x${'5a'.repeat(20)}`;
    await chain.rpc('anvil_setCode', [spammer, crowdOf(8_000, chain.guardian.address)]);
    await chain.rpc('evm_setAutomine', [false]);
    const from = devAccount('bob').address;
    const spam = await chain.rpc('eth_sendTransaction', [{ from, to: spammer, gas: '0xe4e1c0' }]);
    const named = setGuardian(chain, owner.account, offer);
    const waiting = () => chain.rpc('eth_getBlockTransactionCountByNumber', ['pending']);
    await until('both transactions', async () => Number(await waiting()) === 2);
    await chain.mine();
    await chain.rpc('evm_setAutomine', [true]);
    await named;
    await later(61);
    expect(await rowsOf(owner)).toMatchObject([{ is_used: 1 }]);
    expect(t.entries.filter(({ event }) => event === 'guardian_scan_skipped')).toMatchObject([{ tx: spam }]);
    expect(await failing('scan')).toBe(0);
  });

  test('of an account that replaced its code and says too much hides no theft elsewhere', async () => {
    const [loud, owner] = [await createOwner(chain, t, 'loud@example.com'), await newcomer('quiet@example.com')];
    const commitment = await nameGuardian(chain, t, owner);
    await later(61);
    await chain.rpc('anvil_setStorageAt', [loud.account, SLOT, `0x${'0'.repeat(24)}${'5a'.repeat(20)}`]);
    node.lies.push(({ method, params }) => {
      const [{ address = [] } = {}] = params as [{ address?: string | string[] }];
      const isAsked = method === 'eth_getLogs' && [address].flat().includes(loud.account.toLowerCase());
      return isAsked ? { error: { code: -32_005, message: 'query returned more than 10000 results' } } : undefined;
    });
    expect(await theft(owner, commitment)).toEqual(heardBy(owner));
    expect(await failing('proposals')).toBe(0);
  });
});

test('V7: the state of a contract that is not ours is not_ours, and the contract is not called', async () => {
  const contract = `0x${'ea'.repeat(20)}`;
  await chain.rpc('anvil_setCode', [contract, MEGABYTE]);
  const calls: string[] = [];
  node.lies.push(({ method, params }) => {
    const [call] = params as [{ to?: string }];
    if (method === 'eth_call' && call.to?.toLowerCase() === contract) calls.push(method);
    return undefined;
  });
  const { status, body } = await t.call('GET /api/recoveries/status', { smartAccount: contract });
  expect([status, body]).toMatchObject([200, { state: 'not_ours', barredUntil: null, recovery: null }]);
  expect(calls).toEqual([]);
});
