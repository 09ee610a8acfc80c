import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { toQuantity } from '../../../lib/chain/contract-call.ts';
import { TOPICS } from '../../../lib/chain/followed-contracts.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { type Candidate, createCandidate, startRelayChain } from '../../support/candidates.ts';
import { whileTimePasses } from '../../support/clock.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { answerWith, type Lie } from '../../support/relay-world.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

// What is said for good of a registration: `confirmed`, `final`, `failed`.

const chain = await startRelayChain({ edition: 1 });
afterAll(chain.stop);
const code = await chain.rpc('eth_getCode', [chain.registry, 'latest']);

let node: Forwarder;
let witness: Forwarder;
let t: TestVault;
beforeEach(() => {
  node = startForwarder(chain.url);
  witness = startForwarder(chain.url);
});
afterEach(async () => {
  await chain.rpc('anvil_setCode', [chain.registry, code]);
  await t.stop();
  await Promise.all([node.stop(), witness.stop()]);
});

/** A vault whose node is none of this machine's, as far as its settings tell. */
async function open(vars: Record<string, string> = {}): Promise<void> {
  const fetchNode = (url: string, init: RequestInit) =>
    fetch(url.replace('http://node.example', node.url).replace('http://witness.example', witness.url), init);
  t = await startVault({ ...chain.vars, RPC_URL: 'http://node.example', ...vars }, { fetch: fetchNode });
  await t.call('GET /readyz');
}

const lie = (one: Lie, by = node) => {
  by.trouble = (forward, _methods, body) => answerWith(one, forward, body);
};

let people = 0;
const candidate = (did?: string) => createCandidate(chain, `lasting${++people}`, t.clock.now(), did);
const label = () => `did:key:zlasting${++people}`;

/** Somebody who registers with an own transaction, and has it recorded. */
async function recorded(txHash?: string): Promise<Candidate & { readonly raw: string }> {
  const one = await candidate(label());
  const mined = txHash === undefined ? await chain.register({ did: one.did }) : { txHash, raw: '' };
  const { credentialId, did, body } = one;
  const { identifier, channel, attestation } = body;
  const claim = { credentialId, did, identifier, channel, attestation, txHash: mined.txHash };
  expect((await t.call('POST /api/dids', claim)).status).toBe(200);
  return { ...one, raw: mined.raw };
}

async function told({ credentialId }: Pick<Candidate, 'credentialId'>): Promise<string> {
  const { status, body } = await t.call('GET /api/dids/lookup', { credentialId });
  return status === 404 ? 'failed' : `${body.status}${body.final ? ', final' : ''}`;
}

async function look(): Promise<void> {
  await t.clock.advance(31_000);
  await t.work();
}

/** The `finalized` block is so many behind. */
const finalIsBehind = (blocks: number) => {
  const block = async () => Number(await chain.rpc('eth_blockNumber')) - blocks;
  node.trouble = async (forward, _methods, body) => {
    const number = `0x${Math.max(0, await block()).toString(16)}`;
    return answerWith(
      (method, [tag]) => (method === 'eth_getBlockByNumber' && tag === 'finalized' ? { number } : undefined),
      forward,
      body,
    );
  };
};

describe('a re-org of 75 blocks where the final block lags (L5)', () => {
  test('takes back what was recorded: it is neither confirmed nor final', async () => {
    await open({ REGISTRAR_PRIVATE_KEY: '' });
    finalIsBehind(300);
    const alice = await recorded();
    await t.work();
    expect(await told(alice)).toBe('confirmed');
    await chain.mine(74);
    for (let i = 0; i < 3; i++) await look();
    expect(await told(alice)).toBe('confirmed');
    await chain.reorg(75);
    expect(await chain.controllerOf(alice.did)).toBe(`0x${'0'.repeat(40)}`);
    await look();
    expect(await told(alice)).toBe('submitted');
    await chain.sendAgain(alice.raw as never);
    await look();
    expect(await told(alice)).toBe('confirmed');
    await chain.mine(301);
    await look();
    expect(await told(alice)).toBe('confirmed, final');
  });

  test('takes back what was relayed, and it is registered again', async () => {
    await open();
    finalIsBehind(300);
    const alice = await candidate();
    const asked = t.call('POST /api/dids', alice.body);
    expect((await whileTimePasses(t.clock, asked, 500)).body.status).toBe('confirmed');
    await chain.mine(74);
    for (let i = 0; i < 3; i++) await look();
    expect(await told(alice)).toBe('confirmed');
    await chain.reorg(75);
    await chain.rpc('evm_setAutomine', [false]);
    await look();
    expect(await told(alice)).toBe('submitted');
    await chain.rpc('evm_setAutomine', [true]);
    await chain.mine();
    await look();
    await look();
    expect([await told(alice), await chain.controllerOf(alice.did)]).toEqual(['confirmed', alice.smartAccount]);
  });
});

describe('a recorded registration (M4)', () => {
  test.each([
    ['reverted', { status: '0x0', logs: [] }],
    ['registered another DID', { logs: [] }],
    ['is in a block that is not part of the chain', { blockHash: `0x${'ee'.repeat(32)}` }],
  ])('whose receipt says, before it is final, that it %s, has not failed', async (_, change) => {
    await open({ FINALITY_BLOCKS: '3', REGISTRAR_PRIVATE_KEY: '' });
    const alice = await recorded();
    lie((method, _params, result) =>
      method === 'eth_getTransactionReceipt' && result !== null ? { ...(result as object), ...change } : undefined,
    );
    for (let i = 0; i < 2; i++) await look();
    expect(await told(alice)).toBe('submitted');
    node.trouble = undefined;
    await look();
    expect(await told(alice)).toBe('confirmed');
  });

  test("is judged by its own receipt: another transaction's is a fault of the node", async () => {
    await open({ FINALITY_BLOCKS: '0', REGISTRAR_PRIVATE_KEY: '' });
    const { txHash } = await chain.register({ did: label() });
    const others = await chain.rpc('eth_getTransactionReceipt', [txHash]);
    const alice = await recorded();
    lie((method, [hash]) => (method === 'eth_getTransactionReceipt' && hash !== txHash ? others : undefined));
    for (let i = 0; i < 2; i++) await look();
    expect(await told(alice)).toBe('submitted');
    node.trouble = undefined;
    await look();
    expect(await told(alice)).toBe('confirmed, final');
  });

  test.each(['node', 'witness'])(
    'has the controller that two nodes name, not the one that the %s names alone',
    async (by) => {
      await open({ FINALITY_BLOCKS: '0', REGISTRAR_PRIVATE_KEY: '', RPC_WITNESS_URL: 'http://witness.example' });
      const alice = await recorded();
      const mallory = 'ba'.repeat(20);
      lie(
        (method, [call], result) =>
          method === 'eth_call' && String((call as { data?: string }).data).startsWith('0x5c23bdf5')
            ? `0x${'0'.repeat(24)}${mallory}${String(result).slice(66)}`
            : undefined,
        by === 'node' ? node : witness,
      );
      for (let i = 0; i < 2; i++) await look();
      expect(await told(alice)).toBe('submitted');
      expect(t.entries).toContainEqual({ level: 'error', event: 'nodes_disagree', about: 'registration' });
      node.trouble = witness.trouble = undefined;
      await look();
      expect(await told(alice)).toBe('confirmed, final');
      expect((await t.call('GET /api/dids/lookup', { credentialId: alice.credentialId })).text).not.toContain(mallory);
    },
  );

  test('that reverted has failed once that is final', async () => {
    await open({ FINALITY_BLOCKS: '3', REGISTRAR_PRIVATE_KEY: '' });
    const taken = { did: label() };
    await chain.register({ did: taken.did });
    const hash = await chain.revert({ did: taken.did });
    const alice = await recorded(hash);
    await look();
    expect(await told(alice)).toBe('submitted');
    await chain.mine(3);
    await look();
    expect(await told(alice)).toBe('failed');
  });

  test('has not failed while the registry has no code, however long that lasts', async () => {
    await open({ FINALITY_BLOCKS: '0', REGISTRAR_PRIVATE_KEY: '' });
    const alice = await recorded();
    lie((method, params, result) => {
      if (method === 'eth_getTransactionReceipt' && result !== null) return { ...(result as object), logs: [] };
      return method === 'eth_getCode' && params[0] === chain.registry ? '0x' : undefined;
    });
    for (let i = 0; i < 40; i++) await look();
    expect(await told(alice)).toBe('submitted');
    node.trouble = undefined;
    await look();
    expect(await told(alice)).toBe('confirmed, final');
  });

  test('has not failed by one missing receipt after the node was away for long', async () => {
    await open({ FINALITY_BLOCKS: '0', REGISTRAR_PRIVATE_KEY: '' });
    const alice = await recorded();
    node.trouble = () => new Response('bad gateway', { status: 502 });
    for (let i = 0; i < 40; i++) await look();
    lie((method) => (method === 'eth_getTransactionReceipt' ? null : undefined));
    await look();
    expect(await told(alice)).toBe('submitted');
    node.trouble = undefined;
    await look();
    expect(await told(alice)).toBe('confirmed, final');
  });

  test('has not failed by receipts that one of two nodes denies, and once both', async () => {
    await open({ FINALITY_BLOCKS: '0', REGISTRAR_PRIVATE_KEY: '', RPC_WITNESS_URL: 'http://witness.example' });
    const alice = await recorded();
    const none: Lie = (method) => (method === 'eth_getTransactionReceipt' ? null : undefined);
    lie(none);
    for (let i = 0; i < 40; i++) await look();
    lie(none, witness);
    await look();
    expect(await told(alice)).toBe('submitted');
    for (let i = 0; i < 6; i++) await look();
    expect(await told(alice)).toBe('submitted');
    // What both nodes miss for 15 minutes has failed.
    for (let i = 0; i < 24; i++) await look();
    expect(await told(alice)).toBe('failed');
  });

  test('waits without an alarm for a witness that is a block behind', async () => {
    await open({ FINALITY_BLOCKS: '0', REGISTRAR_PRIVATE_KEY: '', RPC_WITNESS_URL: 'http://witness.example' });
    const alice = await recorded();
    const before = toQuantity(Number(await chain.rpc('eth_blockNumber', [])) - 1);
    const old = await chain.rpc('eth_getBlockByNumber', [before, false]);
    lie((method, [which]) => {
      if (method === 'eth_getTransactionReceipt') return null;
      if (method === 'eth_blockNumber') return before;
      return method === 'eth_getBlockByNumber' && which === 'latest' ? old : undefined;
    }, witness);
    for (let i = 0; i < 2; i++) await look();
    expect(await told(alice)).toBe('submitted');
    expect(t.entries).not.toContainEqual({ level: 'error', event: 'nodes_disagree', about: 'registration' });
    witness.trouble = undefined;
    await look();
    expect(await told(alice)).toBe('confirmed, final');
  });

  test('is not confirmed by a receipt that one of two nodes makes up', async () => {
    await open({ FINALITY_BLOCKS: '0', REGISTRAR_PRIVATE_KEY: '', RPC_WITNESS_URL: 'http://witness.example' });
    const spent = await chain.register({ did: label() });
    const alice = await recorded(spent.txHash);
    const controller = `0x${'0'.repeat(24)}${devAccount('bob').address.slice(2).toLowerCase()}`;
    const log = { address: chain.registry, topics: [TOPICS.DIDRegistered, didHash(alice.did), controller], data: '0x' };
    lie((method, _params, result) =>
      method === 'eth_getTransactionReceipt' && result !== null ? { ...(result as object), logs: [log] } : undefined,
    );
    for (let i = 0; i < 3; i++) await look();
    expect(await told(alice)).toBe('submitted');
    expect(t.entries.filter(({ event }) => event === 'nodes_disagree')[0]).toMatchObject({ about: 'registration' });
    node.trouble = undefined;
    await look();
    expect(await told(alice)).toBe('failed');
  });
});
