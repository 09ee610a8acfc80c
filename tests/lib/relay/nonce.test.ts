import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { type Hex, Secp256k1, TxEnvelopeEip1559 } from 'ox';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { startRelayChain } from '../../support/candidates.ts';
import { testClock } from '../../support/clock.ts';
import { startForwarder } from '../../support/forwarder.ts';
import { type Lie, openRelayWorld, type RelayWorld } from '../../support/relay-world.ts';

const DEPTH = 12;
const chain = await startRelayChain({ edition: 1 });
const registrar = devAccount('registrar');
beforeAll(() => chain.rpc('evm_setAutomine', [false]));
afterAll(chain.stop);

const worlds: RelayWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
  await chain.rpc('anvil_dropAllTransactions');
  await chain.mine(DEPTH + 1);
});

/** A vault that knows no final blocks of the operator's: a jump needs 12 blocks. */
async function open(vars: Record<string, string> = { FINALITY_BLOCKS: '12' }, startMs?: number): Promise<RelayWorld> {
  const world = await openRelayWorld(chain, vars, { clock: testClock(startMs) });
  worlds.push(world);
  return world;
}

const COUNT = 'eth_getTransactionCount';
const hex = (value: number) => `0x${value.toString(16)}`;

/** The first answers about nonces say so many more, as many of them as given; `tags` are the blocks asked about. */
function jumpOnce(by: number, answers: number, isAsked = (_tag: unknown) => true): Lie {
  let left = answers;
  return (method, [, tag], result) => {
    if (method !== COUNT || left === 0 || !isAsked(tag)) return undefined;
    left--;
    return hex(Number(result) + by);
  };
}

const noops = ({ t }: RelayWorld) => t.rows(`SELECT 1 FROM relay_attempts WHERE kind = 'noop'`);
const nextNonce = async ({ t }: RelayWorld) => (await t.rows('SELECT next_nonce FROM signers'))[0]?.['next_nonce'];
const broadcasts = ({ node }: RelayWorld) => node.methods.filter((one) => one === 'eth_sendRawTransaction').length;
/** All transactions that the registrar's account has sent, waiting ones too. */
const sent = async () => Number(await chain.rpc(COUNT, [registrar.address, 'pending']));

/** Somebody else uses the registrar's key. */
async function useKey(times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    const envelope = TxEnvelopeEip1559.from({
      chainId: 84532,
      nonce: BigInt(await sent()),
      to: registrar.address,
      gas: 21_000n,
      maxFeePerGas: 40n * 10n ** 9n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
    const payload = TxEnvelopeEip1559.getSignPayload(envelope);
    const signature = Secp256k1.sign({ payload, privateKey: registrar.privateKey });
    const raw: Hex.Hex = TxEnvelopeEip1559.serialize(envelope, { signature });
    await chain.rpc('eth_sendRawTransaction', [raw]);
  }
}

/** Looks until somebody's relay has a nonce. */
async function signedAt(world: RelayWorld, one: Parameters<RelayWorld['relayOf']>[0], looks = 4): Promise<unknown> {
  for (let i = 0; i < looks && (await world.relayOf(one))['status'] !== 'signed'; i++) await world.look(1_000);
  return (await world.relayOf(one))['nonce'];
}

describe('a node that answers a nonce which is too high (M5)', () => {
  for (const by of [500, 1_000_000, 3]) {
    for (const answers of [1, 2]) {
      test(`${answers} of its answers +${by}: to a vault that never asked before, nothing is raised or burnt`, async () => {
        const world = await open();
        const nonce = await chain.nonce();
        world.lie(jumpOnce(by, answers));
        const alice = await world.submit('stored');
        expect(await signedAt(world, alice)).toBe(nonce);
        await chain.mine();
        await world.look();
        expect(await world.told(alice)).toBe('confirmed, proven');
        expect([await nextNonce(world), await sent(), await noops(world)]).toEqual([nonce + 1, nonce + 1, []]);
        expect(broadcasts(world)).toBe(1);
      });

      test(`${answers} of its answers +${by}: to a vault at work, the next one goes through all the same`, async () => {
        const world = await open();
        const alice = await world.submit();
        await chain.mine();
        await world.look();
        const nonce = await chain.nonce();
        world.lie(jumpOnce(by, answers));
        const bob = await world.submit('stored');
        expect(await signedAt(world, bob)).toBe(nonce);
        await chain.mine();
        await world.look();
        expect([await world.told(alice), await world.told(bob)]).toEqual(['confirmed, proven', 'confirmed, proven']);
        expect([await nextNonce(world), await noops(world), broadcasts(world)]).toEqual([nonce + 1, [], 2]);
        expect(world.logged('registrar_key_used_elsewhere')).toEqual([]);
      });
    }

    test(`always, +${by}: what deep blocks do not show is not believed, and told once`, async () => {
      const world = await open();
      await world.look();
      const nonce = await chain.nonce();
      world.lie(jumpOnce(by, Number.POSITIVE_INFINITY, (tag) => tag === 'latest' || tag === 'pending'));
      const alice = await world.submit();
      expect(await signedAt(world, alice)).toBe(nonce);
      await chain.mine();
      for (let i = 0; i < 3; i++) await world.look();
      expect([await world.told(alice), await world.relayState()]).toEqual(['confirmed, proven', 'nonce_jump']);
      expect(world.logged('relay_trouble')).toMatchObject([{ level: 'error', trouble: 'nonce_jump' }]);
      world.beHonest();
      await world.look();
      expect([await world.relayState(), await nextNonce(world), await noops(world)]).toEqual(['ok', nonce + 1, []]);
    });
  }

  for (const by of [500, 1_000_000]) {
    test(`in all that is asked of it, +${by}: the nonces are taken back, and none is spent with nothing`, async () => {
      const world = await open();
      const nonce = await chain.nonce();
      world.lie(jumpOnce(by, 3));
      const alice = await world.submit('stored');
      expect(await world.t.rows('SELECT 1 FROM relay_attempts')).not.toEqual([]);
      expect(world.logged('registrar_nonces_taken_back')).toHaveLength(1);
      expect(await signedAt(world, alice)).toBe(nonce);
      await chain.mine();
      await world.look();
      expect([await world.told(alice), await world.relayState()]).toEqual(['confirmed, proven', 'ok']);
      expect([await nextNonce(world), await sent(), await noops(world)]).toEqual([nonce + 1, nonce + 1, []]);
      expect(world.logged('registrar_nonces_taken_back')).toMatchObject([
        { level: 'error', from: nonce + by + 1, to: nonce, relays: 1 },
      ]);
    });
  }

  test('a database that an older version has left with such a nonce heals, with and without relays at it', async () => {
    const world = await open();
    await world.look();
    const nonce = await chain.nonce();
    const poison = () => world.t.rows('UPDATE signers SET next_nonce = next_nonce + 500');
    await poison();
    const alice = await world.submit('stored');
    expect(await signedAt(world, alice)).toBe(nonce);
    await chain.mine();
    await world.look();
    await world.t.rows(`UPDATE signers SET next_nonce = ${nonce + 1 + 391}`);
    const [bob, carol] = [await world.submit('stored'), await world.submit('stored')];
    expect([await signedAt(world, bob), await signedAt(world, carol)].sort()).toEqual([nonce + 1, nonce + 2]);
    await chain.mine();
    await world.look();
    for (const one of [alice, bob, carol]) expect(await world.told(one)).toBe('confirmed, proven');
    expect([await chain.nonce(), await noops(world)]).toEqual([nonce + 3, []]);
  });
});

test('a node that does not answer how far the key was used: of what waits nothing is simulated until it does', async () => {
  const world = await open();
  world.lie((method, [, tag]) => (method === COUNT && tag !== 'latest' && tag !== 'pending' ? 'none' : undefined));
  const simulated = () => world.node.methods.filter((one) => one === 'eth_estimateGas').length;
  const alice = await world.submit('stored');
  const before = simulated();
  for (let i = 0; i < 3; i++) await world.look(1_000);
  expect([(await world.relayOf(alice))['status'], simulated() - before]).toEqual(['queued', 0]);
  world.beHonest();
  expect(await signedAt(world, alice)).toBe(await chain.nonce());
  expect(simulated()).toBeGreaterThan(before);
});

describe('a node that answers a nonce which is too low (M5)', () => {
  for (const answers of [1, 2, 3]) {
    test(`in ${answers} answers: nothing is signed twice, and nothing is burnt`, async () => {
      const world = await open();
      const [alice, bob] = [await world.submit(), await world.submit()];
      await chain.mine();
      await world.look();
      const nonce = await chain.nonce();
      let left = answers;
      world.lie((method) => (method === COUNT && left-- > 0 ? '0x0' : undefined));
      const carol = await world.submit();
      expect((await world.relayOf(carol))['nonce']).toBe(nonce);
      await chain.mine();
      await world.look();
      for (const one of [alice, bob, carol]) expect(await world.told(one)).toBe('confirmed, proven');
      expect([await nextNonce(world), await noops(world), broadcasts(world)]).toEqual([nonce + 1, [], 3]);
    });
  }

  test('always, while relays are under way: they stay as they are', async () => {
    const world = await open();
    await world.submit();
    await chain.mine();
    await world.look();
    const crowd = [await world.submit(), await world.submit()];
    const before = await world.t.rows('SELECT id, status, nonce FROM relays ORDER BY id');
    world.lie((method) => (method === COUNT ? '0x0' : undefined));
    for (let i = 0; i < 3; i++) await world.look();
    expect(await world.t.rows('SELECT id, status, nonce FROM relays ORDER BY id')).toEqual(before);
    expect([await noops(world), await world.t.rows('SELECT fills FROM signers')]).toEqual([[], [{ fills: 0 }]]);
    world.beHonest();
    await chain.mine();
    await world.look();
    for (const one of crowd) expect(await world.told(one)).toBe('confirmed, proven');
  });
});

test('a node that answers a nonce which is too low by more than 16: none is taken back that deep blocks show', async () => {
  await useKey(20);
  await chain.mine(DEPTH + 1);
  const world = await open();
  await world.look();
  const crowd = [await world.submit(), await world.submit()];
  const before = await world.t.rows('SELECT id, status, nonce FROM relays ORDER BY id');
  world.lie((method, [, tag]) => (method === COUNT && (tag === 'latest' || tag === 'pending') ? '0x0' : undefined));
  for (let i = 0; i < 3; i++) await world.look();
  expect(await world.t.rows('SELECT id, status, nonce FROM relays ORDER BY id')).toEqual(before);
  expect(world.logged('registrar_nonces_taken_back')).toEqual([]);
  world.beHonest();
  await chain.mine();
  await world.look();
  for (const one of crowd) expect(await world.told(one)).toBe('confirmed, proven');
});

describe('a key that was really used elsewhere (M5)', () => {
  test('is believed by at most 16 more than deep blocks show, whatever a node says besides', async () => {
    const world = await open();
    await world.look();
    await world.submit();
    await chain.mine();
    await world.look();
    const nonce = await chain.nonce();
    await useKey(3);
    await chain.mine(DEPTH + 1);
    world.lie(jumpOnce(500, Number.POSITIVE_INFINITY, (tag) => tag === 'latest' || tag === 'pending'));
    const bob = await world.submit('stored');
    await signedAt(world, bob);
    expect(await nextNonce(world)).toBeWithin(nonce + 3, nonce + 3 + 16 + 2);
  });

  test('is believed 12 blocks deep; what was signed before gets another nonce', async () => {
    const world = await open();
    await world.look();
    const nonce = await chain.nonce();
    await useKey(30);
    await chain.mine();
    const alice = await world.submit();
    expect((await world.relayOf(alice))['nonce']).toBe(nonce);
    await world.look();
    expect([await world.relayState(), world.logged('registrar_key_used_elsewhere').length]).toEqual(['nonce_jump', 0]);
    await chain.mine(DEPTH);
    await world.look();
    expect((await world.relayOf(alice))['nonce']).toBe(nonce + 30);
    expect(world.logged('registrar_key_used_elsewhere')).toMatchObject([
      { level: 'error', expected: nonce + 1, found: nonce + 30 },
    ]);
    await chain.mine();
    await world.look();
    expect([await world.told(alice), await world.relayState(), await noops(world)]).toEqual([
      'confirmed, proven',
      'ok',
      [],
    ]);
  });

  test('is believed at once where the operator says that blocks are final at once', async () => {
    const world = await open({ FINALITY_BLOCKS: '0' });
    await world.look();
    const nonce = await chain.nonce();
    await useKey(30);
    await chain.mine();
    expect((await world.relayOf(await world.submit()))['nonce']).toBe(nonce + 30);
  });

  test('is believed where the newest block is old: that chain makes blocks only for transactions', async () => {
    const { timestamp } = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
    const world = await open({ FINALITY_BLOCKS: '12' }, 1_000 * Number(timestamp));
    await world.look();
    const nonce = await chain.nonce();
    await useKey(3);
    await chain.mine();
    const alice = await world.submit();
    expect((await world.relayOf(alice))['nonce']).toBe(nonce);
    await world.t.clock.advance(11 * 60_000);
    await world.look();
    expect((await world.relayOf(alice))['nonce']).toBe(nonce + 3);
  });

  test('all the time, as by a second vault: this one goes on at the newest nonce', async () => {
    const world = await open();
    await world.look();
    for (let i = 0; i < DEPTH + 4; i++) {
      await useKey();
      await chain.mine();
    }
    const nonce = await chain.nonce();
    const alice = await world.submit();
    expect((await world.relayOf(alice))['nonce']).toBe(nonce);
    await chain.mine();
    await world.look();
    expect(await world.told(alice)).toBe('confirmed, proven');
  });

  test('is not believed while the second node does not say so', async () => {
    const witness = startForwarder(chain.url);
    const world = await open({ FINALITY_BLOCKS: '12', RPC_WITNESS_URL: witness.url });
    await world.look();
    const nonce = await chain.nonce();
    world.lie(jumpOnce(500, Number.POSITIVE_INFINITY));
    const alice = await world.submit();
    expect((await world.relayOf(alice))['nonce']).toBe(nonce);
    expect(world.logged('nodes_disagree')).toMatchObject([{ level: 'error', about: 'nonce' }]);
    await chain.mine();
    await world.look();
    expect([await world.told(alice), await nextNonce(world)]).toEqual(['confirmed, proven', nonce + 1]);
    await witness.stop();
  });
});

describe('empty transactions for nonces that no relay has (M5)', () => {
  test('are so many in a day, and told', async () => {
    const world = await open();
    await world.look();
    const nonce = await chain.nonce();
    await world.t.rows(
      `UPDATE signers SET next_nonce = ${nonce + 3}, fills = 63, fills_since = ${world.t.clock.now()}`,
    );
    const alice = await world.submit();
    for (let i = 0; i < 3; i++) {
      await world.look();
      await chain.mine();
    }
    expect([await chain.nonce(), await world.relayState()]).toEqual([nonce + 1, 'nonce_jump']);
    expect(await world.t.rows('SELECT fills FROM signers')).toEqual([{ fills: 64 }]);
    await world.t.clock.advance(24 * 3_600_000);
    for (let i = 0; i < 3; i++) {
      await world.look();
      await chain.mine();
    }
    await world.look();
    expect([await world.told(alice), await world.relayState()]).toEqual(['confirmed, proven', 'ok']);
    expect(await world.t.rows('SELECT fills FROM signers')).toEqual([{ fills: 2 }]);
  });
});
