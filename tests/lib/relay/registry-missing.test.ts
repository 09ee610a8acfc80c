import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { didHash } from '../../../lib/identity/did.ts';
import { devAccount, sendTransaction, waitForReceipt } from '../../../scripts/dev-stack/wallet.ts';
import { type Candidate, startRelayChain } from '../../support/candidates.ts';
import { startForwarder } from '../../support/forwarder.ts';
import { registerData } from '../../support/onchain.ts';
import { openRelayWorld, type RelayWorld } from '../../support/relay-world.ts';

/** An address without code, as a slip of the keyboard names one. */
const NOWHERE = `0x${'0'.repeat(35)}bad00`;
const MISSING = { error: 'registry_missing', hint: expect.stringContaining('DID_REGISTRY_ADDRESS') };
const DEPTH = 12;

const chain = await startRelayChain({ edition: 1 });
const code = await chain.rpc('eth_getCode', [chain.registry, 'latest']);
beforeAll(() => chain.rpc('evm_setAutomine', [false]));
afterAll(chain.stop);
beforeEach(() => chain.rpc('anvil_setCode', [chain.registry, code]));

const worlds: RelayWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
  await chain.rpc('anvil_dropAllTransactions');
  await chain.mine(DEPTH + 1);
});

async function open(vars: Record<string, string> = {}): Promise<RelayWorld> {
  const world = await openRelayWorld(chain, vars);
  worlds.push(world);
  return world;
}

/** The chain's base fee: above 10 gwei what is queued waits. */
async function gasCosts(gwei: bigint): Promise<void> {
  for (let i = 0; i < 2; i++) {
    await chain.rpc('anvil_setNextBlockBaseFeePerGas', [Hex.fromNumber(gwei * 10n ** 9n)]);
    await chain.mine();
  }
}

/** What a registration would leave behind. */
const TABLES = ['registrations', 'relays', 'relay_attempts', 'sessions', 'attestation_uses', 'events'];

async function rowsOf({ t }: RelayWorld): Promise<readonly string[]> {
  const counts = await Promise.all(TABLES.map((table) => t.rows(`SELECT count(*) AS n FROM ${table}`)));
  return TABLES.filter((_, i) => counts[i]?.[0]?.['n'] !== 0);
}

/** The receipt of the registration's transaction, with another part. */
const receiptWith = (world: RelayWorld, change: object) =>
  world.lie((method, _, result) =>
    method === 'eth_getTransactionReceipt' && result !== null ? { ...(result as object), ...change } : undefined,
  );

const statusOf = async (world: RelayWorld, one: Candidate) => {
  const { status, failure } = await world.relayOf(one);
  return [await world.told(one), status, failure];
};

describe('a registry without code (M4)', () => {
  test('POST /api/dids, relayed: 503 registry_missing, nothing is counted, queued or sent, and /readyz says so', async () => {
    const world = await open({ DID_REGISTRY_ADDRESS: NOWHERE });
    const alice = await world.candidate();
    const asked = await world.t.call('POST /api/dids', alice.body);
    expect([asked.status, asked.body]).toEqual([503, MISSING]);
    expect([await rowsOf(world), world.node.methods.includes('eth_sendRawTransaction')]).toEqual([[], false]);
    await world.look();
    const { status, body } = await world.t.call('GET /readyz');
    expect([status, body.relay, body.registry]).toEqual([200, 'no_registry', 'missing']);
    expect(world.logged('relay_trouble')).toMatchObject([{ level: 'error', trouble: 'no_registry' }]);
  });

  test('POST /api/dids, recorded: 503 registry_missing, and nothing is counted', async () => {
    const world = await open({ DID_REGISTRY_ADDRESS: NOWHERE, REGISTRAR_PRIVATE_KEY: '' });
    const { credentialId, did, body } = await world.candidate();
    const { identifier, channel, attestation } = body;
    const txHash = `0x${'ab'.repeat(32)}`;
    const asked = await world.t.call('POST /api/dids', { credentialId, did, identifier, channel, attestation, txHash });
    expect([asked.status, asked.body]).toEqual([503, MISSING]);
    const handle = await world.t.call('POST /api/dids', {
      credentialId,
      did,
      identifier: 'alice',
      channel: 'handle',
      txHash,
    });
    expect([handle.status, handle.body.error]).toEqual([503, 'registry_missing']);
    expect([await rowsOf(world), (await world.t.call('GET /readyz')).body.registry]).toEqual([[], 'missing']);
  });

  test('one wrong answer is not remembered, and a node that cannot be asked says nothing', async () => {
    const world = await open();
    let left = 1;
    world.lie((method, [address]) =>
      method === 'eth_getCode' && address === chain.registry && left-- > 0 ? '0x' : undefined,
    );
    const alice = await world.candidate();
    const { credentialId, did, body } = alice;
    const recorded = { credentialId, did, ...body, txHash: `0x${'ab'.repeat(32)}`, proof: undefined };
    expect((await world.t.call('POST /api/dids', recorded)).status).toBe(503);
    expect((await world.t.call('POST /api/dids', recorded)).status).toBe(200);
    const away = await open({ RPC_URL: 'http://127.0.0.1:1' });
    const bob = await away.candidate();
    const other = { ...bob.body, txHash: `0x${'cd'.repeat(32)}`, proof: undefined };
    expect((await away.t.call('POST /api/dids', other)).status).toBe(200);
    expect((await away.t.call('GET /readyz')).body.registry).toBeUndefined();
  });

  test('that lost its code while a registration waits: nothing is sent, nothing has failed, and it goes on', async () => {
    const world = await open();
    await gasCosts(30n);
    const alice = await world.submit('stored');
    await chain.rpc('anvil_setCode', [chain.registry, '0x']);
    await gasCosts(1n);
    await world.look(5_000);
    expect([await statusOf(world, alice), await world.relayState()]).toEqual([
      ['submitted', 'queued', null],
      'no_registry',
    ]);
    await chain.rpc('anvil_setCode', [chain.registry, code]);
    await world.look(5_000);
    await chain.mine();
    await world.look();
    expect([await world.told(alice), await world.relayState()]).toEqual(['confirmed, proven', 'ok']);
  });

  test('that was mined without code: open while it has none, failed once it has, never confirmed', async () => {
    const world = await open();
    const alice = await world.submit();
    await chain.rpc('anvil_setCode', [chain.registry, '0x']);
    await chain.mine(DEPTH + 1);
    for (let i = 0; i < 3; i++) await world.look();
    expect([await statusOf(world, alice), await world.relayState()]).toEqual([
      ['submitted', 'signed', null],
      'no_registry',
    ]);
    await chain.rpc('anvil_setCode', [chain.registry, code]);
    await world.look();
    expect(await statusOf(world, alice)).toEqual(['failed', 'failed', 'no_event']);
    expect(await world.t.rows(`SELECT 1 FROM events WHERE type = 'registration.confirmed'`)).toEqual([]);
  });

  test('of before, in a relay that waits: it ends once another one is configured', async () => {
    const world = await open();
    await gasCosts(30n);
    const alice = await world.submit('stored');
    await world.t.rows(`UPDATE relays SET target = '${NOWHERE}'`);
    await gasCosts(1n);
    await world.look(5_000);
    expect(await statusOf(world, alice)).toEqual(['failed', 'failed', 'no_registry']);
  });
});

describe('confirmed is what the registry’s own event says (M4)', () => {
  test.each([
    ['no logs', { logs: [] }],
    ['a log of another contract', { logs: [{ address: NOWHERE, topics: [] }] }],
    ['a block that is not part of the chain', { blockHash: `0x${'ee'.repeat(32)}` }],
  ])('a receipt with %s confirms nothing, and fails nothing', async (_, change) => {
    const world = await open();
    const alice = await world.submit();
    receiptWith(world, change);
    await chain.mine();
    await world.look();
    expect(await statusOf(world, alice)).toEqual(['submitted', 'signed', null]);
    world.beHonest();
    await world.look();
    expect(await world.told(alice)).toBe('confirmed, proven');
  });

  test('a receipt whose event names another DID or another controller confirms nothing', async () => {
    const world = await open();
    const alice = await world.submit();
    await chain.mine();
    for (const at of [1, 2]) {
      world.lie((method, _, result) => {
        if (method !== 'eth_getTransactionReceipt' || result === null) return undefined;
        const { logs, ...receipt } = result as { logs: { topics: string[] }[] };
        const change = (topics: string[]) => topics.map((topic, i) => (i === at ? `0x${'5b'.repeat(32)}` : topic));
        return { ...receipt, logs: logs.map((log) => ({ ...log, topics: change(log.topics) })) };
      });
      await world.look();
      expect(await statusOf(world, alice)).toEqual(['submitted', 'signed', null]);
    }
  });

  test('a node that says the DID is registered, without an event: open, and neither confirmed nor failed', async () => {
    const world = await open();
    const asked = await world.submit();
    await chain.rpc('anvil_dropAllTransactions');
    const nonce = Number((await world.relayOf(asked))['nonce']);
    const spend = { to: devAccount('registrar').address, value: 1n };
    await chain.rpc('evm_setAutomine', [true]);
    await sendTransaction(chain.rpc, devAccount('registrar').privateKey, spend);
    await chain.rpc('evm_setAutomine', [false]);
    expect(await chain.nonce()).toBe(nonce + 1);
    const own = `0x5c23bdf5${didHash(asked.did).slice(2)}`;
    const told = `0x${'0'.repeat(24)}${asked.smartAccount.slice(2)}${'0'.repeat(64 * 4)}`;
    world.lie((method, [call]) =>
      method === 'eth_call' && (call as { data: string }).data === own ? told : undefined,
    );
    await chain.mine(DEPTH + 1);
    for (let i = 0; i < 3; i++) await world.look();
    expect(await statusOf(world, asked)).toEqual(['submitted', 'signed', null]);
    world.beHonest();
    await world.look();
    await chain.mine();
    await world.look();
    expect(await world.told(asked)).toBe('confirmed, proven');
  });

  test('another’s registration of the same DID and account counts once its event is final', async () => {
    const world = await open({ FINALITY_BLOCKS: '3' });
    await gasCosts(30n);
    const alice = await world.submit('stored');
    await chain.rpc('anvil_impersonateAccount', [alice.smartAccount]);
    await chain.rpc('anvil_setBalance', [alice.smartAccount, Hex.fromNumber(10n ** 18n)]);
    const call = { from: alice.smartAccount, to: chain.registry, data: registerData(alice), gas: '0x7a120' };
    const txHash = (await chain.rpc('eth_sendTransaction', [call])) as Hex.Hex;
    await gasCosts(1n);
    await waitForReceipt(chain.rpc, txHash);
    await world.look(5_000);
    expect(await statusOf(world, alice)).toEqual(['submitted', 'queued', null]);
    await chain.mine(3);
    await world.look(5_000);
    expect(await statusOf(world, alice)).toEqual(['confirmed, proven', 'confirmed', null]);
    const { body } = await world.t.call('GET /api/dids/lookup', { credentialId: alice.credentialId });
    expect([body.txHash, body.final]).toEqual([txHash, true]);
  });

  test('with a second node, both must show it', async () => {
    const witness = startForwarder(chain.url);
    const world = await open({ RPC_WITNESS_URL: witness.url });
    const alice = await world.submit();
    await chain.mine();
    witness.trouble = async (forward, _methods, body) => {
      const answers = [await (await forward()).json()].flat() as { id: number; result?: unknown }[];
      const calls = [JSON.parse(body)].flat() as { id: number; method: string }[];
      const isReceipt = (id: number) => calls.find((one) => one.id === id)?.method === 'eth_getTransactionReceipt';
      const told = answers.map((one) => (isReceipt(one.id) ? { ...one, result: null } : one));
      return Response.json(Array.isArray(JSON.parse(body)) ? told : told[0]);
    };
    await world.look();
    expect(await statusOf(world, alice)).toEqual(['submitted', 'signed', null]);
    expect(world.logged('nodes_disagree')[0]).toMatchObject({ level: 'error', about: 'registration' });
    witness.trouble = undefined;
    await world.look();
    expect(await world.told(alice)).toBe('confirmed, proven');
    await witness.stop();
  });
});
