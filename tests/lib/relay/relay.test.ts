import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Address, type Hex, Secp256k1, TxEnvelopeEip1559 } from 'ox';
import { createContext } from '../../../lib/context.ts';
import type { Database } from '../../../lib/db/database.ts';
import { addressOf, devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { type Candidate, createCandidate, startRelayChain } from '../../support/candidates.ts';
import { testClock } from '../../support/clock.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { registerData } from '../../support/onchain.ts';
import { look as lookOver, readRelay, readStatus } from '../../support/relay-world.ts';
import { tally } from '../../support/tally.ts';
import { until } from '../../support/until.ts';
import { startVault, type TestVault, timedBy, VAULT_SECRET } from '../../support/vault.ts';

const GWEI = 10n ** 9n;
const SETTLED = 12;

const chain = await startRelayChain({ edition: 1 });
const registrar = devAccount('registrar');
beforeAll(() => chain.rpc('evm_setAutomine', [false]));
afterAll(chain.stop);

let node: Forwarder;
let t: TestVault;
beforeEach(async () => {
  node = startForwarder(chain.url);
  t = await start();
});
afterEach(async () => {
  await t.stop();
  await node.stop();
  await chain.rpc('anvil_dropAllTransactions');
  await setBaseFee(GWEI);
  await chain.mine();
});

async function start(vars: Record<string, string> = {}, options: Parameters<typeof startVault>[1] = {}) {
  const settings = { ...chain.vars, RPC_URL: node.url, ...vars };
  const started = await startVault(settings, { clock: testClock(), ...options });
  // The tables are made at first use.
  await started.call('GET /api/sessions/status');
  return started;
}

let people = 0;

/**
 * Somebody asks to be registered; the answer may come when it will. Resolves once the relay is as far as `status`, a
 * signed one in the node's hands.
 */
async function submit(status = 'signed', by = t): Promise<Candidate> {
  const candidate = await createCandidate(chain, `person${++people}`, by.clock.now());
  by.call('POST /api/dids', candidate.body).catch(() => undefined);
  await by.idle();
  const { status: reached, tx_hash } = await relayOf(candidate);
  expect([reached, status === 'signed' && (await isKnown(tx_hash))]).toEqual([status, status === 'signed']);
  return candidate;
}

const relayOf = (one: Pick<Candidate, 'did'>) => readRelay(t, one);

async function attemptsOf(candidate: Candidate) {
  const { id } = await relayOf(candidate);
  return t.rows('SELECT * FROM relay_attempts WHERE relay_id = :id ORDER BY seq', { id: Number(id) });
}

const told = (one: Candidate, by = t) => readStatus(by, one);
const look = (by = t, ms?: number) => lookOver(by, ms);
const relayState = async () => (await t.call('GET /readyz')).body.relay;
const logged = (event: string, by = t) => by.entries.filter((entry) => entry.event === event);
const setBaseFee = (wei: bigint) => chain.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`]);
const setBalance = (wei: bigint) => chain.rpc('anvil_setBalance', [registrar.address, `0x${wei.toString(16)}`]);
const drop = (hash: unknown) => chain.rpc('anvil_dropTransaction', [hash]);
const isKnown = async (hash: unknown) => (await chain.rpc('eth_getTransactionByHash', [hash])) !== null;

/** Sends a transaction that pays to be first. */
async function sendFast(privateKey: Hex.Hex, nonce: number, to: Address.Address, data: Hex.Hex = '0x'): Promise<void> {
  const fee = 40n * GWEI;
  const envelope = TxEnvelopeEip1559.from({
    chainId: 84532,
    nonce: BigInt(nonce),
    to,
    data,
    gas: 500_000n,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: fee,
  });
  const signature = Secp256k1.sign({ payload: TxEnvelopeEip1559.getSignPayload(envelope), privateKey });
  await chain.rpc('eth_sendRawTransaction', [TxEnvelopeEip1559.serialize(envelope, { signature })]);
}

/** Somebody else uses the registrar's key. */
const useKey = (nonce: number) => sendFast(registrar.privateKey, nonce, registrar.address);

/** A rival registers the candidate's DID for itself, and is first. */
async function outrun({ did }: Candidate): Promise<void> {
  const rival = Secp256k1.randomPrivateKey();
  await chain.rpc('anvil_setBalance', [addressOf(rival), '0xde0b6b3a7640000']);
  await sendFast(rival, 0, chain.registry, registerData({ did }));
}

describe('a relay', () => {
  test('is stored with its nonce and its bytes before it is sent', async () => {
    let stored: unknown[] = [];
    node.trouble = async (forward, methods) => {
      if (methods.includes('eth_sendRawTransaction'))
        stored = [
          ...(await t.rows('SELECT nonce, status, hash FROM relays JOIN relay_attempts ON relay_id = relays.id')),
        ];
      return forward();
    };
    const nonce = await chain.nonce();
    const alice = await submit();
    expect(stored).toEqual([{ nonce, status: 'signed', hash: (await relayOf(alice))['tx_hash'] }]);
  });

  test('has a quarter more gas than it takes now: the state may change before its block', async () => {
    const [attempt] = await attemptsOf(await submit());
    const { to, data, gas } = TxEnvelopeEip1559.deserialize(attempt?.['raw'] as TxEnvelopeEip1559.Serialized);
    const call = { from: registrar.address, to, data };
    const needed = BigInt((await chain.rpc('eth_estimateGas', [call, 'latest'])) as string);
    expect(gas).toBe((needed * 5n) / 4n);
  });

  test('is confirmed by its block, and watched until that is deep', async () => {
    const alice = await submit();
    expect(await told(alice)).toBe('submitted');
    await chain.mine();
    await look();
    expect([await told(alice), (await relayOf(alice))['status']]).toEqual(['confirmed, proven', 'mined']);
    await chain.mine(64);
    await look();
    expect(await relayOf(alice)).toMatchObject({ status: 'confirmed', next_check_at: null });
    node.trouble = () => Promise.reject(new Error('nothing is left to ask'));
    await t.work();
  });

  test('that the node has lost is sent once more, the same bytes', async () => {
    const alice = await submit();
    const { tx_hash: hash } = await relayOf(alice);
    await drop(hash);
    expect(await isKnown(hash)).toBe(false);
    await look();
    expect(await isKnown(hash)).toBe(true);
    await chain.mine();
    await look();
    expect([await told(alice), (await attemptsOf(alice)).length]).toEqual(['confirmed, proven', 1]);
  });

  test.each([1, 2, 8])('that a re-org of depth %d took back is submitted again, and sent again', async (depth) => {
    const alice = await submit();
    await chain.mine();
    await look();
    await chain.mine(depth - 1);
    const { tx_hash: hash } = await relayOf(alice);
    await chain.reorg(depth);
    await drop(hash);
    await look();
    expect([await told(alice), (await relayOf(alice))['status']]).toEqual(['submitted', 'signed']);
    await chain.mine();
    await look();
    expect([await told(alice), (await relayOf(alice))['tx_hash']]).toEqual(['confirmed, proven', hash]);
  });

  test('that a re-org moved to another block stays confirmed, there', async () => {
    const alice = await submit();
    const [attempt] = await attemptsOf(alice);
    await chain.mine();
    await look();
    const [before] = await t.rows('SELECT mined_hash FROM registrations');
    await chain.reorg(1);
    await chain.rpc('eth_sendRawTransaction', [attempt?.['raw']]).catch(() => undefined);
    await chain.mine();
    await look();
    const [after] = await t.rows('SELECT mined_hash, status FROM registrations');
    expect(after?.['status']).toBe('confirmed');
    expect(after?.['mined_hash']).not.toBe(before?.['mined_hash']);
  });

  test('behind a mined one that a re-org took back does not wait until that is due', async () => {
    const alice = await submit();
    await chain.mine();
    await look();
    for (let i = 0; i < 6; i++) await look();
    const bob = await submit();
    await chain.reorg(1);
    await drop((await relayOf(alice))['tx_hash']);
    await t.clock.advance(1_000);
    await t.work();
    await chain.mine();
    await look();
    expect([await told(alice), await told(bob)]).toEqual(['confirmed, proven', 'confirmed, proven']);
  });

  test('never has more than 16 transactions of one signer under way', async () => {
    const crowd = await Promise.all(
      Array.from({ length: 20 }, () => createCandidate(chain, `person${++people}`, t.clock.now())),
    );
    const count = async () => await t.rows('SELECT status, count(*) AS n FROM relays GROUP BY status ORDER BY status');
    const isFirstSigned = async () => (await t.rows("SELECT 1 FROM relays WHERE status = 'signed'")).length > 0;
    const areAllStored = Promise.withResolvers<void>();
    let isHeld = false;
    // The turn after the one that signs the first finds nothing queued, and asks the node until all others are stored.
    node.trouble = async (forward, methods) => {
      isHeld ||= methods.includes('eth_getTransactionCount') && (await isFirstSigned());
      if (methods.includes('eth_getTransactionCount') && isHeld) await areAllStored.promise;
      return forward();
    };
    const [first, ...others] = crowd;
    t.call('POST /api/dids', first?.body).catch(() => undefined);
    await t.idle();
    expect(isHeld).toBe(true);
    for (const { body } of others) t.call('POST /api/dids', body).catch(() => undefined);
    await t.idle();
    expect(await t.rows('SELECT 1 FROM relays')).toHaveLength(20);
    areAllStored.resolve();
    await t.work();
    expect(await count()).toEqual([
      { status: 'queued', n: 4 },
      { status: 'signed', n: 16 },
    ]);
    await chain.mine();
    await t.work();
    expect(await count()).toEqual([
      { status: 'mined', n: 16 },
      { status: 'signed', n: 4 },
    ]);
  });
});

describe('when its fee is too low', () => {
  /** Signed while gas was cheap, and then it is not. */
  async function overtaken(gwei: bigint): Promise<Candidate> {
    const alice = await submit();
    await mineAt(gwei, 5);
    return alice;
  }
  async function mineAt(gwei: bigint, blocks: number): Promise<void> {
    for (let i = 0; i < blocks; i++) {
      await setBaseFee(gwei * GWEI);
      await chain.mine();
    }
    await setBaseFee(gwei * GWEI);
  }

  test('it is replaced under the same nonce after 5 blocks, both fees at least ×1.125', async () => {
    const alice = await overtaken(4n);
    await look();
    const [first, second, ...more] = await attemptsOf(alice);
    expect(more).toEqual([]);
    expect(Number(second?.['max_fee'])).toBeGreaterThanOrEqual(Number(first?.['max_fee']) * 1.125);
    expect(Number(second?.['tip'])).toBeGreaterThanOrEqual(Number(first?.['tip']) * 1.125);
    expect((await relayOf(alice))['tx_hash']).toBe(second?.['hash']);
    await chain.mine();
    await look();
    expect(await told(alice)).toBe('confirmed, proven');
  });

  test('and the old one is mined after all, that one is the registration', async () => {
    const alice = await overtaken(4n);
    await look();
    const [first, second] = await attemptsOf(alice);
    await drop(second?.['hash']);
    await setBaseFee(GWEI / 2n);
    await chain.rpc('eth_sendRawTransaction', [first?.['raw']]);
    await setBaseFee(GWEI / 2n);
    await chain.mine();
    await look();
    const { body } = await t.call('GET /api/dids/lookup', { credentialId: alice.credentialId });
    expect(body).toMatchObject({ status: 'confirmed', txHash: first?.['hash'] });
    expect(await chain.controllerOf(alice.did)).toBe(alice.smartAccount);
  });

  test('it is not replaced by what the signer cannot pay, and is as soon as that can', async () => {
    const alice = await overtaken(4n);
    const before = (await chain.rpc('eth_getBalance', [registrar.address, 'latest'])) as Hex.Hex;
    await setBalance(GWEI);
    await look();
    expect(await attemptsOf(alice)).toHaveLength(1);
    await setBalance(BigInt(before));
    await look();
    expect(await attemptsOf(alice)).toHaveLength(2);
  });

  test('it is not replaced above RELAY_MAX_FEE_GWEI, and waits', async () => {
    const alice = await overtaken(30n);
    for (let i = 0; i < 30; i++) {
      await mineAt(30n, 5);
      await look();
    }
    const fees = (await attemptsOf(alice)).map((attempt) => Number(attempt['max_fee']));
    expect(Math.max(...fees)).toBeLessThanOrEqual(Number(10n * GWEI));
    expect(await relayState()).toBe('stuck');
    await setBaseFee(GWEI);
    await chain.mine();
    await look();
    await chain.mine();
    await look();
    expect([await told(alice), await relayState()]).toEqual(['confirmed, proven', 'ok']);
  });

  test('nothing is signed while the chain asks more than RELAY_MAX_FEE_GWEI', async () => {
    await mineAt(30n, 1);
    const alice = await submit('queued');
    await t.work();
    expect([(await relayOf(alice))['status'], await relayState()]).toEqual(['queued', 'fees_above_cap']);
    expect(logged('relay_trouble')).toMatchObject([{ level: 'warn', trouble: 'fees_above_cap' }]);
  });
});

describe('the chain has the last word', () => {
  test('a revert is believed once it is 12 blocks deep: another was first', async () => {
    const alice = await submit();
    await outrun(alice);
    await chain.mine();
    await look();
    expect(await told(alice)).toBe('submitted');
    await chain.mine(SETTLED);
    await look();
    expect([await told(alice), (await relayOf(alice))['failure']]).toEqual(['failed', 'did_taken']);
    // All is free again: session, identifier, credential.
    const { identifier, channel } = alice.body;
    expect((await t.call('GET /api/sessions/check', { identifier, channel } as never)).body.available).toBe(true);
  });

  test('a registration that would revert by now is not paid for: only its nonce is freed, for those behind it', async () => {
    const alice = await submit();
    await drop((await relayOf(alice))['tx_hash']);
    await outrun(alice);
    await chain.mine(6);
    // A slow node may have answered only after the relay's turn.
    for (let looks = 0; looks < 5 && (await attemptsOf(alice)).length < 2; looks++) await look();
    const [, second] = await attemptsOf(alice);
    expect(second).toMatchObject({ kind: 'noop', gas: 21_000 });
    const bob = await submit();
    await chain.mine();
    await look();
    expect(await told(bob)).toBe('confirmed, proven');
    await chain.mine(SETTLED);
    await look();
    expect([await told(alice), (await relayOf(alice))['failure']]).toEqual(['failed', 'did_taken']);
  });

  test('a registration that is mined just before its fee is raised keeps its nonce, where calls are a block behind', async () => {
    const alice = await submit();
    let before: unknown;
    // Its own transaction is sent again and mined, and then its call is refused.
    node.trouble = async (forward, methods, body) => {
      if (before === undefined && methods.includes('eth_estimateGas')) {
        before = await chain.rpc('eth_blockNumber', []);
        await chain.mine();
      } else if (before !== undefined && methods.includes('eth_call')) {
        const behind = body.replaceAll('"latest"', `"${before}"`);
        return fetch(chain.url, { method: 'POST', body: behind, headers: { 'content-type': 'application/json' } });
      }
      return forward();
    };
    await drop((await relayOf(alice))['tx_hash']);
    await chain.mine(6);
    for (let looks = 0; looks < 5 && before === undefined; looks++) await look();
    await look();
    expect([before !== undefined, (await attemptsOf(alice)).map(({ kind }) => kind)]).toEqual([true, ['call']]);
    node.trouble = undefined;
    await look();
    expect(await told(alice)).toBe('confirmed, proven');
  });

  test('a registration that was tried twelve times is given up: its nonce is freed, and it gets no other', async () => {
    const alice = await submit();
    for (let tries = 1; tries <= 12; tries++) {
      for (const { hash } of await attemptsOf(alice)) await drop(hash);
      await chain.mine(6);
      for (let looks = 0; looks < 5 && (await attemptsOf(alice)).length <= tries; looks++) await look();
    }
    expect((await attemptsOf(alice)).map(({ kind }) => kind)).toEqual([...Array(12).fill('call'), 'noop']);
    await chain.mine(SETTLED + 1);
    await look();
    expect([await told(alice), (await relayOf(alice))['failure']]).toEqual(['failed', 'reverted']);
  });

  test('a registration whose nonce was freed, as it stood on a block that is gone, is sent again', async () => {
    const alice = await submit();
    let isTakenBack = false;
    // Its own transaction is mined before the call is tried again, and a re-org takes it back before it is looked up.
    node.trouble = async (forward, methods) => {
      if (isTakenBack || !methods.includes('eth_estimateGas')) return forward();
      isTakenBack = true;
      await chain.mine();
      const refused = await forward();
      await chain.reorg(1);
      return refused;
    };
    await drop((await relayOf(alice))['tx_hash']);
    await chain.mine(6);
    for (let looks = 0; looks < 5 && (await attemptsOf(alice)).length < 2; looks++) await look();
    expect((await attemptsOf(alice)).map(({ kind }) => kind)).toEqual(['call', 'noop']);
    await chain.mine(SETTLED + 1);
    await look();
    expect(await told(alice)).toBe('submitted');
    await chain.mine();
    await look();
    expect(await told(alice)).toBe('confirmed, proven');
  });

  test('a nonce that someone else spent with the key is noticed, and the relay gets another', async () => {
    await chain.mine(SETTLED + 1);
    const alice = await submit();
    const { nonce, tx_hash: hash } = await relayOf(alice);
    await drop(hash);
    await useKey(Number(nonce));
    await chain.mine();
    await look();
    // Not before it is deep: the receipt of its own transaction may be late.
    expect([await told(alice), (await relayOf(alice))['nonce']]).toEqual(['submitted', Number(nonce)]);
    await chain.mine(SETTLED);
    await look();
    expect((await relayOf(alice))['nonce']).toBe(Number(nonce) + 1);
    await chain.mine();
    await look();
    expect(await told(alice)).toBe('confirmed, proven');
    expect(await chain.controllerOf(alice.did)).toBe(alice.smartAccount);
  });

  test('a chain that is ahead of the stored nonce is told as an error, and never signed below', async () => {
    await submit();
    await chain.mine();
    await look();
    await useKey(await chain.nonce());
    await chain.mine();
    const nonce = await chain.nonce();
    const bob = await submit();
    expect((await relayOf(bob))['nonce']).toBe(nonce);
    expect(logged('registrar_key_used_elsewhere')).toMatchObject([
      { level: 'error', expected: nonce - 1, found: nonce },
    ]);
  });

  test('a database from before finds what it had sent', async () => {
    const alice = await submit();
    await chain.mine();
    // As if it had been copied before the relay was signed.
    await t.database.execute({ sql: 'DELETE FROM relay_attempts', args: {} });
    await t.database.execute({
      sql: `UPDATE relays SET status = 'queued', nonce = NULL, signer = NULL`,
      args: {},
    });
    await t.database.execute({ sql: 'UPDATE signers SET next_nonce = next_nonce - 1', args: {} });
    const nonce = await chain.nonce();
    await look();
    expect([await told(alice), await chain.nonce()]).toEqual(['confirmed, proven', nonce]);
    expect(logged('registrar_key_used_elsewhere')).toHaveLength(1);
  });

  test('a nonce that nobody has is spent with nothing, for those behind it', async () => {
    await submit();
    await chain.mine();
    await look();
    await t.database.execute({ sql: 'UPDATE signers SET next_nonce = next_nonce + 1', args: {} });
    const bob = await submit();
    await look();
    await chain.mine();
    await look();
    expect(await told(bob)).toBe('confirmed, proven');
  });

  test('a chain that was started anew stops the relay', async () => {
    const alice = await submit();
    await t.database.execute({ sql: `UPDATE chains SET genesis = '0xold'`, args: {} });
    const attempts = await attemptsOf(alice);
    await chain.mine(5);
    await look();
    expect([await relayState(), await told(alice), await attemptsOf(alice)]).toEqual([
      'chain_reset',
      'submitted',
      attempts,
    ]);
    expect(logged('relay_trouble')).toMatchObject([{ level: 'error', trouble: 'chain_reset' }]);
    const bob = await createCandidate(chain, `person${++people}`, t.clock.now());
    expect((await t.call('POST /api/dids', bob.body)).body).toEqual({ error: 'rpc_error' });
  });
});

describe('what the operator is told', () => {
  afterEach(() => setBalance(10n ** 20n));

  test('a low balance, before it is too low', async () => {
    await look();
    expect(await relayState()).toBe('ok');
    await setBalance(9_000_000_000_000_000n);
    await look(t, 60_000);
    expect(await relayState()).toBe('low_balance');
    await setBalance(1_000_000_000_000_000n);
    await look(t, 60_000);
    expect(await relayState()).toBe('unfunded');
    expect(logged('relay_trouble').map(({ level, trouble }) => [level, trouble])).toEqual([
      ['warn', 'low_balance'],
      ['error', 'unfunded'],
    ]);
    await setBalance(10n ** 20n);
    await look();
    expect([await relayState(), logged('relay_recovered').length]).toEqual(['ok', 1]);
  });

  test('by the metrics of every process, whichever relays', async () => {
    const { vars, database, clock } = { vars: { ...chain.vars, RPC_URL: node.url, VAULT_SECRET }, ...t };
    const second = createContext({ vars, database: timedBy(clock, database), clock });
    await submit();
    await setBalance(9_000_000_000_000_000n);
    await look();
    await second.relay?.turn();
    const isOn = (line: string) => line.endsWith(' 1');
    expect(tally(second.metrics, 'vault_relay_trouble').filter(isOn)).toEqual([
      '{signer="registrar",trouble="low_balance"} 1',
    ]);
    expect(tally(second.metrics, 'vault_relays').filter(isOn)).toEqual(['{signer="registrar",status="signed"} 1']);
    expect(tally(second.metrics, 'vault_relay_oldest_seconds')).toEqual(['{signer="registrar"} 30']);
    expect(tally(second.metrics, 'vault_relay_balance_ether')).toEqual([]);
  });

  test('a relay that is not mined for two minutes', async () => {
    await submit();
    await look(t, 110_000);
    expect(await relayState()).toBe('ok');
    await look(t, 20_000);
    expect(await relayState()).toBe('stuck');
  });

  test('a node that cannot be reached, once', async () => {
    const alice = await submit();
    node.trouble = () => new Response('', { status: 502 });
    for (let i = 0; i < 3; i++) await look();
    expect([await relayState(), logged('relay_trouble').length]).toEqual(['unreachable', 1]);
    expect((await t.call('GET /readyz')).status).toBe(200);
    node.trouble = undefined;
    await chain.mine();
    await look();
    expect([await told(alice), await relayState()]).toEqual(['confirmed, proven', 'ok']);
  });

  test('a node whose answers are none', async () => {
    const alice = await submit();
    const receipt = { blockNumber: '0x1', blockHash: 1 };
    for (const result of [[], { baseFeePerGas: 1, reward: 1 }, receipt]) {
      node.trouble = (_forward, _methods, body) =>
        Response.json(JSON.parse(body).map(({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result })));
      await look();
      expect(await relayState()).toBe('unreachable');
    }
    expect(logged('relay_failed')).toEqual([]);
    node.trouble = undefined;
    await chain.mine();
    await look();
    expect([await told(alice), await relayState()]).toEqual(['confirmed, proven', 'ok']);
  });

  test('a fault of the program, which is no trouble of the chain, and the relay tries again', async () => {
    const { alice, faulty, mend } = await submitAndBreak(async () => ({ rows: [null] }) as never);
    const failures = logged('relay_failed', faulty);
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures)
      expect(failure).toMatchObject({ level: 'error', stack: expect.stringContaining('TypeError') });
    await recovers(alice, faulty, mend);
  });

  test('a database that fails, which is no trouble of the chain either', async () => {
    const { alice, faulty, mend } = await submitAndBreak(() => Promise.reject(new Error('disk I/O error')));
    expect(logged('database_unavailable', faulty)[0]).toMatchObject({ message: 'Error: disk I/O error' });
    await recovers(alice, faulty, mend);
  });

  /** A vault that has signed a relay, and then gets this instead of the attempts. */
  async function submitAndBreak(answer: Database['execute']) {
    let isBroken = false;
    const database: Database = {
      ...t.database,
      execute: (statement) =>
        (isBroken && statement.sql.includes('FROM relay_attempts') ? answer : t.database.execute)(statement),
    };
    const faulty = await start({}, { database, clock: t.clock });
    const alice = await submit('signed', faulty);
    isBroken = true;
    await look(faulty);
    const mend = () => {
      isBroken = false;
    };
    return { alice, faulty, mend };
  }

  async function recovers(alice: Candidate, faulty: TestVault, mend: () => void): Promise<void> {
    expect((await faulty.call('GET /readyz')).body.relay).toBe('ok');
    expect([...logged('relay_trouble', faulty), ...logged('relay_interrupted', faulty)]).toEqual([]);
    mend();
    await chain.mine();
    await look(faulty);
    expect(await told(alice, faulty)).toBe('confirmed, proven');
    await faulty.stop();
  }
});

describe('several processes', () => {
  test('one relays, and the requests of the other are answered too', async () => {
    const second = await start({}, { database: t.database, clock: t.clock });
    await submit();
    const bob = await createCandidate(chain, `person${++people}`, t.clock.now());
    const asked = second.call('POST /api/dids', bob.body);
    await t.idle();
    expect((await relayOf(bob))['status']).toBe('queued');
    await t.work();
    expect((await relayOf(bob))['status']).toBe('signed');
    await chain.mine();
    await t.work();
    await t.clock.advance(1_000);
    expect((await asked).body).toMatchObject({ status: 'confirmed' });
    expect(logged('relay', second)).toEqual([]);
    await second.stop();
  });

  test('another takes over when the one that relayed is gone', async () => {
    const second = await start({}, { database: t.database, clock: t.clock });
    const alice = await submit();
    await chain.mine();
    await t.clock.advance(3_000);
    await second.work();
    expect(await told(alice, second)).toBe('confirmed, proven');
    await second.stop();
  });

  test('a turn that outlasts its lease does not end what another process has sent meanwhile', async () => {
    const other = startForwarder(chain.url);
    const second = await start({ RPC_URL: other.url }, { database: t.database, clock: t.clock });
    const isMined = Promise.withResolvers<void>();
    let isTakenBack = false;
    // Tried on the chain that has the registration already, and looked up in the registry after a re-org.
    node.trouble = async (forward, methods) => {
      const isTurn = (await t.rows('SELECT 1 FROM relays')).length > 0;
      if (isTurn && methods.includes('eth_estimateGas')) await isMined.promise;
      if (isTurn && methods.includes('eth_call') && !isTakenBack) {
        isTakenBack = true;
        await chain.reorg(1);
      }
      return forward();
    };
    const alice = await createCandidate(chain, `person${++people}`, t.clock.now());
    const asked = t.call('POST /api/dids', alice.body);
    await t.idle();
    expect((await relayOf(alice))['status']).toBe('queued');
    await t.clock.advance(3_000);
    await second.work();
    expect((await relayOf(alice))['status']).toBe('signed');
    await chain.mine();
    isMined.resolve();
    await until('the slow turn finds nothing in the registry', () => isTakenBack);
    await t.work();
    expect(await relayOf(alice)).toMatchObject({ status: 'signed', failure: null });
    await second.work();
    await chain.mine();
    await second.work();
    await t.clock.advance(1_000);
    expect([(await asked).body.status, await told(alice)]).toEqual(['confirmed', 'confirmed, proven']);
    await second.stop();
    await other.stop();
  });

  test('a new key follows what the old one signed, and signs the rest', async () => {
    const alice = await submit();
    const privateKey = Secp256k1.randomPrivateKey();
    const rotated = await start({ REGISTRAR_PRIVATE_KEY: privateKey }, { database: t.database, clock: t.clock });
    await drop((await relayOf(alice))['tx_hash']);
    await t.clock.advance(3_000);
    await rotated.work();
    await chain.mine();
    await t.clock.advance(30_000);
    await rotated.work();
    expect(await told(alice, rotated)).toBe('confirmed, proven');
    const [signer] = await t.rows('SELECT count(*) AS n FROM signers WHERE address = :address', {
      address: addressOf(privateKey).toLowerCase(),
    });
    expect(signer).toEqual({ n: 1 });
    await rotated.stop();
  });
});
