import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { toBase64url, utf8 } from '../../../lib/base/bytes.ts';
import { CONFIRMATION_LEASE_MS } from '../../../lib/registration/confirm.ts';
import { compileContracts } from '../../../scripts/contracts.ts';
import { proveRegistration } from '../../../scripts/dev-stack/passkey-proof.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { testClock } from '../../support/clock.ts';
import { type Forwarder, startForwarder, type Trouble } from '../../support/forwarder.ts';
import { startTestChain } from '../../support/onchain.ts';
import { createPasskey, type Passkey } from '../../support/passkey.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const MINUTE = 60_000;
const PATIENCE = 15 * MINUTE;
/** The longest pause between two looks, and the longest a look may take before another process takes over. */
const PAUSE = 30_000;
const LEASE = CONFIRMATION_LEASE_MS;
const NOWHERE = `0x${'00'.repeat(31)}01`;

const chain = await startTestChain({ edition: 1 });
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
});

const start = (options: Parameters<typeof startVault>[1] = {}, vars: Record<string, string> = {}) => {
  const limits = { MAX_REGISTRATIONS_PER_IP: '1000', MAX_VERIFY_SENDS_PER_IP: '1000', RATE_LIMIT_PROXY_PER_IP: '6000' };
  return startVault({ ...chain.vars, RPC_URL: node.url, ...limits, ...vars }, options);
};

interface Claim {
  readonly credentialId: string;
  readonly identifier: string;
  readonly channel: string;
  readonly did: string;
}

let people = 0;

/** Somebody nobody heard of before, with a handle. */
function person(): Claim {
  const name = `person${++people}`;
  return { credentialId: credential(name), identifier: name, channel: 'handle', did: `did:key:z${name}` };
}

function credential(name: string): string {
  return toBase64url(utf8(name.padEnd(16, '.')));
}

const onChain = ({ did, identifier }: Claim) => ({ did, handle: identifier });

async function record(claim: Claim, txHash: string, more: Record<string, unknown> = {}) {
  const reply = await t.call('POST /api/dids', { ...claim, txHash, ...more });
  return reply.status === 200 ? 'recorded' : reply.body.error;
}

/** What the look-up tells of a claim's credential. */
async function told({ credentialId }: Claim, by = t) {
  const { status, body } = await by.call('GET /api/dids/lookup', { credentialId });
  if (status === 404) return 'failed';
  return [
    body.status,
    ...(body.proofs.identifier === 'alias' ? ['aliased'] : []),
    ...(body.proven ? ['proven'] : []),
  ].join(', ');
}

/** Looks so often that each vouches for the time since the one before, for `ms`. */
async function lookFor(ms: number, by = t): Promise<void> {
  for (let left = ms; left > 0; left -= MINUTE) {
    await by.clock.advance(Math.min(left, MINUTE));
    await by.work();
  }
}

/** Lets all be due that is watched, and looks. */
async function look(by = t): Promise<void> {
  await by.clock.advance(PAUSE);
  await by.work();
}

/** The members with which a passkey claims a registration for the controller. */
async function prove(passkey: Passkey, claim: Claim, smartAccount: `0x${string}`, attestation?: unknown) {
  const { body: vault } = await t.call('GET /api/contracts');
  return proveRegistration(passkey, vault, { ...claim, smartAccount, attestation }, { now: t.clock.now() });
}

describe('a registration is confirmed', () => {
  test('by its receipt, from which the block number is taken', async () => {
    const alice = person();
    const { txHash, block } = await chain.register({ did: alice.did });
    await record(alice, txHash, { blockNumber: 7 });
    expect(await told(alice)).toBe('submitted');
    await t.work();
    const { body } = await t.call('GET /api/dids/lookup', { credentialId: alice.credentialId });
    expect(body).toMatchObject({ status: 'confirmed', proven: false, blockNumber: block, txHash });
  });

  test('and shown as the alias leads when its transaction also registered the handle', async () => {
    const alice = person();
    await record(alice, (await chain.register(onChain(alice))).txHash);
    await t.work();
    expect(await told(alice)).toBe('confirmed, aliased');
  });

  test('but not by the alias of another handle', async () => {
    const alice = person();
    await record(alice, (await chain.register({ did: alice.did, handle: 'another' })).txHash);
    await t.work();
    expect(await told(alice)).toBe('confirmed');
  });

  test('whenever it is mined, if within 15 minutes', async () => {
    const alice = person();
    await chain.rpc('evm_setAutomine', [false]);
    const registering = chain.register(onChain(alice));
    const txHash = await pendingHash();
    await record(alice, txHash);
    await t.work();
    expect(await told(alice)).toBe('submitted');
    await lookFor(PATIENCE - PAUSE);
    expect(await told(alice)).toBe('submitted');
    await chain.mine();
    await registering;
    await chain.rpc('evm_setAutomine', [true]);
    await look();
    expect(await told(alice)).toBe('confirmed, aliased');
  });

  test('and watched until 64 blocks are on top of its own', async () => {
    const alice = person();
    await record(alice, (await chain.register(onChain(alice))).txHash);
    await t.work();
    await chain.mine(63);
    const looked = node.methods.length;
    await look();
    expect(node.methods.length).toBeGreaterThan(looked);
    await chain.mine(1);
    await look();
    const atTheEnd = node.methods.length;
    for (let i = 0; i < 3; i++) await look();
    expect(node.methods.length).toBe(atTheEnd);
    expect(await told(alice)).toBe('confirmed, aliased');
  });
});

describe('a registration fails', () => {
  test('when its transaction reverted; handle, DID, credential and IP slot are free again', async () => {
    const [alice, mallory] = [person(), person()];
    await chain.register({ did: alice.did });
    await record(alice, await chain.revert({ did: alice.did }));
    expect((await t.call('GET /api/sessions/status')).body.ip_registrations).toBe(1);
    await t.work();
    expect(await told(alice)).toBe('failed');
    expect((await t.call('GET /api/sessions/status')).body).toMatchObject({
      ip_registrations: 0,
      total_registrations: 0,
    });
    expect((await t.call('GET /api/aliases/check', { alias: alice.identifier })).body.available).toBe(true);
    expect(await record({ ...mallory, identifier: alice.identifier }, NOWHERE)).toBe('recorded');
    expect(await record({ ...alice, identifier: 'elsewhere' }, NOWHERE)).toBe('recorded');
  });

  test("when its transaction registered another DID, or the event is another contract's", async () => {
    const [alice, bob, carol] = [person(), person(), person()];
    const registry = await anotherRegistry();
    await record(alice, (await chain.register(onChain(bob))).txHash);
    await record(carol, (await chain.register(onChain(carol), { registry })).txHash);
    await t.work();
    expect([await told(alice), await told(carol)]).toEqual(['failed', 'failed']);
  });

  test('when no node has seen its transaction for 15 minutes, at the exact edge', async () => {
    const [alice, bob] = [person(), person()];
    await record(alice, NOWHERE);
    await t.work();
    await t.clock.advance(1);
    await record(bob, NOWHERE);
    await t.work();
    await lookFor(PATIENCE - 1);
    expect([await told(alice), await told(bob)]).toEqual(['failed', 'submitted']);
    await look();
    expect(await told(bob)).toBe('failed');
    expect(await record(person(), NOWHERE)).toBe('recorded');
  });

  test('for good: a transaction that is mined later must be recorded again', async () => {
    const alice = person();
    const { txHash, raw } = await chain.register(onChain(alice));
    await chain.reorg(1);
    await record(alice, txHash);
    await t.work();
    await lookFor(PATIENCE);
    await chain.sendAgain(raw);
    await look();
    expect(await told(alice)).toBe('failed');
    expect(await record(alice, txHash)).toBe('recorded');
    await t.work();
    expect(await told(alice)).toBe('confirmed, aliased');
  });
});

describe('a registration does not fail for time in which nobody looked', () => {
  /** One whose transaction no node has yet, and that transaction. */
  async function lagging() {
    const alice = person();
    const { txHash, raw } = await chain.register(onChain(alice));
    await chain.reorg(1);
    await record(alice, txHash);
    return { alice, raw };
  }

  async function expectWatched(alice: Claim, raw: Parameters<typeof chain.sendAgain>[0]): Promise<void> {
    expect((await told(alice)).split(',')[0]).toBe('submitted');
    // The node lags: more looks miss it, but not for 15 minutes.
    await lookFor(10 * MINUTE);
    expect((await told(alice)).split(',')[0]).toBe('submitted');
    await chain.sendAgain(raw);
    await look();
    expect(await told(alice)).toBe('confirmed, aliased');
  }

  test('V6: after 16 minutes without the node', async () => {
    const { alice, raw } = await lagging();
    node.trouble = () => new Response('busy', { status: 503 });
    for (let i = 0; i < 32; i++) await look();
    node.trouble = undefined;
    await look();
    await expectWatched(alice, raw);
  });

  test('V6: after 16 minutes in which no vault ran', async () => {
    const { alice, raw } = await lagging();
    await t.work();
    await t.clock.advance(16 * MINUTE);
    await t.work();
    await expectWatched(alice, raw);
  });

  test('V6: by a process whose clock is 20 minutes ahead', async () => {
    const { alice, raw } = await lagging();
    const ahead = await start({ database: t.database, clock: testClock(t.clock.now() + 20 * MINUTE) });
    await ahead.work();
    await expectWatched(alice, raw);
    await ahead.stop();
  });
});

describe('a re-org that takes the block', () => {
  test('makes a confirmed registration submitted again, and confirmed in the block that has it next', async () => {
    const alice = person();
    const { txHash, raw, block } = await chain.register(onChain(alice));
    await record(alice, txHash);
    await t.work();
    await chain.reorg(1);
    await look();
    expect(await told(alice)).toStartWith('submitted');
    const lost = await t.call('GET /api/dids/lookup', { credentialId: alice.credentialId });
    expect(lost.body.blockNumber).toBeNull();
    await chain.sendAgain(raw);
    await look();
    const found = await t.call('GET /api/dids/lookup', { credentialId: alice.credentialId });
    expect(found.body).toMatchObject({ status: 'confirmed', final: true, blockNumber: block + 1 });
  });

  test('fails it 15 minutes after that was seen, at the exact edge', async () => {
    const [alice, bob] = [person(), person()];
    await record(alice, (await chain.register(onChain(alice))).txHash);
    await t.work();
    await t.clock.advance(1);
    await record(bob, (await chain.register(onChain(bob))).txHash);
    await t.work();
    await chain.reorg(2);
    await t.clock.advance(PATIENCE);
    await t.work();
    expect([await told(alice), await told(bob)].map((text) => text.split(',')[0])).toEqual(['submitted', 'submitted']);
    await lookFor(PATIENCE - 1);
    expect((await told(alice)).split(',')[0]).toBe('submitted');
    await look();
    expect([await told(alice), await told(bob)]).toEqual(['failed', 'failed']);
  });

  test('changes nothing when the transaction was mined once more meanwhile', async () => {
    const alice = person();
    const { txHash, raw, block } = await chain.register(onChain(alice));
    await record(alice, txHash);
    await t.work();
    await chain.reorg(1);
    await chain.sendAgain(raw);
    await look();
    const { body } = await t.call('GET /api/dids/lookup', { credentialId: alice.credentialId });
    expect(body).toMatchObject({ status: 'confirmed', blockNumber: block + 1 });
  });
});

describe('a node in trouble', () => {
  const rpcError = (code: number) => (_: unknown, methods: readonly string[]) =>
    Response.json(methods.map((_method, id) => ({ jsonrpc: '2.0', id, error: { code, message: 'limit exceeded' } })));
  const resultOf =
    (result: unknown): Trouble =>
    (_forward, _methods, body) =>
      Response.json([JSON.parse(body)].flat().map(({ id }) => ({ jsonrpc: '2.0', id, result })));
  const troubles: [string, Trouble][] = [
    ['answers 503', () => new Response('busy', { status: 503 })],
    ['answers a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['answers its own errors', rpcError(-32005)],
    ['answers receipts that are none', resultOf({ blockNumber: '0x1', blockHash: 1 })],
    ['answers numbers that are none', resultOf({ blockNumber: 'x', blockHash: '0x1' })],
  ];

  test.each(troubles)('that %s changes nothing, however long, and is logged without its URL', async (_, trouble) => {
    const [seen, unseen, gone] = [person(), person(), person()];
    await record(seen, (await chain.register(onChain(seen))).txHash);
    await t.work();
    await record(unseen, (await chain.register(onChain(unseen))).txHash);
    await record(gone, NOWHERE);
    node.trouble = trouble;
    for (let i = 0; i < 40; i++) await look();
    expect([await told(seen), await told(unseen), await told(gone)]).toEqual([
      'confirmed, aliased',
      'submitted, aliased',
      'submitted',
    ]);
    const logged = t.entries.filter(({ event }) => event === 'chain_unreadable');
    expect(logged.length).toBeGreaterThan(0);
    expect(JSON.stringify(logged)).not.toContain(new URL(node.url).port);
    expect(t.entries.filter(({ event }) => event === 'work_failed')).toEqual([]);
    node.trouble = undefined;
    await look();
    expect([await told(seen), await told(unseen)]).toEqual(['confirmed, aliased', 'confirmed, aliased']);
  });

  test('that cannot be reached is asked again until it can', async () => {
    const alice = person();
    await record(alice, (await chain.register(onChain(alice))).txHash);
    const port = Number(new URL(node.url).port);
    await node.stop();
    for (let i = 0; i < 3; i++) await look();
    expect(await told(alice)).toBe('submitted, aliased');
    node = startForwarder(chain.url, port);
    await look();
    expect(await told(alice)).toBe('confirmed, aliased');
  });

  test('that fails only when the account is read leaves the registration for later', async () => {
    const passkey = createPasskey();
    const holder = await chain.deployHolder(passkey.key);
    const alice = person();
    const { txHash } = await chain.register({ did: alice.did }, { holder });
    await record(alice, txHash, await prove(passkey, alice, holder));
    node.trouble = (forward, methods) => (methods.includes('eth_call') ? new Response('', { status: 503 }) : forward());
    await look();
    expect(await told(alice)).toBe('submitted');
    node.trouble = undefined;
    await look();
    expect(await told(alice)).toBe('confirmed, proven');
  });
});

test('an error of ours is logged as one and not as the chain’s, and the other registrations are judged', async () => {
  const [alice, bob] = [person(), person()];
  await record(alice, (await chain.register(onChain(alice))).txHash);
  await record(bob, (await chain.register(onChain(bob))).txHash);
  const failing = `CREATE TRIGGER faulty BEFORE UPDATE OF controller ON registrations WHEN new.did = '${alice.did}'
    BEGIN SELECT RAISE(ABORT, 'faulty'); END`;
  await t.database.execute({ sql: failing, args: {} });
  await look();
  expect([await told(alice), await told(bob)]).toEqual(['submitted, aliased', 'confirmed, aliased']);
  expect(t.entries.filter(({ event }) => event === 'chain_unreadable')).toEqual([]);
  expect(t.entries.filter(({ event }) => event === 'work_failed')).toMatchObject([
    { level: 'error', message: expect.stringContaining('faulty'), stack: expect.any(String) },
  ]);
  await t.database.execute({ sql: 'DROP TRIGGER faulty', args: {} });
  await look();
  expect(await told(alice)).toBe('confirmed, aliased');
});

describe('two processes on one database', () => {
  let other: TestVault;
  beforeEach(async () => {
    other = await start({ database: t.database, clock: t.clock });
  });
  afterEach(() => other.stop());

  const receipts = () => node.methods.filter((method) => method === 'eth_getTransactionReceipt').length;

  test('share the work and look at each registration once', async () => {
    const claims = Array.from({ length: 120 }, person);
    for (const claim of claims) expect(await record(claim, NOWHERE)).toBe('recorded');
    await Promise.all([t.work(), other.work(), t.work(), other.work()]);
    expect(receipts()).toBe(claims.length);
    await t.clock.advance(999);
    await Promise.all([t.work(), other.work()]);
    expect(receipts()).toBe(claims.length);
    await t.clock.advance(1);
    await Promise.all([t.work(), other.work()]);
    expect(receipts()).toBe(2 * claims.length);
  });

  test('take over from one that died in the middle of a look, once its lease has lapsed', async () => {
    const alice = person();
    await record(alice, (await chain.register(onChain(alice))).txHash);
    const { promise: end, resolve } = Promise.withResolvers<Response>();
    node.trouble = () => end;
    const dying = t.work();
    await t.idle();
    expect(receipts()).toBe(1);
    node.trouble = undefined;
    await other.work();
    expect(receipts()).toBe(1);
    await t.clock.advance(LEASE - 1);
    await other.work();
    expect(receipts()).toBe(1);
    await t.clock.advance(1);
    await other.work();
    expect([receipts(), await told(alice, other)]).toEqual([2, 'confirmed, aliased']);
    resolve(new Response());
    await dying;
  });

  test('never let one that overslept its lease undo what the other saw since', async () => {
    const clock = testClock(t.clock.now());
    const sleeper = await start({ database: t.database, clock });
    const alice = person();
    const { txHash, raw } = await chain.register(onChain(alice));
    await chain.reorg(1);
    await record(alice, txHash);
    await clock.advance(PATIENCE);
    const answered = Promise.withResolvers<void>();
    const awake = Promise.withResolvers<void>();
    node.trouble = async (forward) => {
      const answer = await forward();
      answered.resolve();
      await awake.promise;
      return answer;
    };
    const sleeping = sleeper.work();
    await answered.promise;
    node.trouble = undefined;
    await chain.sendAgain(raw);
    await t.clock.advance(PATIENCE + LEASE);
    await other.work();
    expect(await told(alice)).toBe('confirmed, aliased');
    awake.resolve();
    await sleeping;
    expect(await told(alice)).toBe('confirmed, aliased');
    await sleeper.stop();
  });
});

describe('a copy of a public DID and transaction', () => {
  test('stands beside the claim of its owner, who needs no proof', async () => {
    const [alice, mallory] = [person(), person()];
    const { txHash } = await chain.register(onChain(alice));
    expect(await record({ ...mallory, did: alice.did }, txHash)).toBe('recorded');
    await t.work();
    expect(await told(mallory)).toBe('confirmed');
    expect(await record(alice, txHash)).toBe('recorded');
    await t.work();
    expect([await told(mallory), await told(alice)]).toEqual(['confirmed', 'confirmed, aliased']);
  });

  test('on the same credential leads to the same DID', async () => {
    const [alice, mallory] = [person(), person()];
    const { txHash } = await chain.register(onChain(alice));
    expect(await record({ ...alice, identifier: mallory.identifier }, txHash)).toBe('recorded');
    expect(await record(alice, txHash)).toBe('recorded');
    await t.work();
    const { body } = await t.call('GET /api/dids/lookup', { credentialId: alice.credentialId });
    expect([body.did, body.ambiguous]).toEqual([alice.did, undefined]);
  });

  test('is not proven, whatever the passkey of its owner has signed', async () => {
    const passkey = createPasskey();
    const holder = await chain.deployHolder(passkey.key);
    const alice = person();
    const { txHash } = await chain.register(onChain(alice), { holder });
    const thief = { ...alice, credentialId: credential('a thief') };
    expect(await record(thief, txHash)).toBe('recorded');
    await t.work();
    const proof = await prove(passkey, alice, holder);
    const stolen = { ...alice, credentialId: credential('another thief') };
    expect(await record(stolen, txHash, proof)).toBe('proof_invalid');
    expect(await record(alice, txHash, proof)).toBe('recorded');
    await t.work();
    expect([await told(thief), await told(alice)]).toEqual(['confirmed, aliased', 'confirmed, aliased, proven']);
  });
});

describe('a proof', () => {
  const claimWith = async (passkeyOf: (own: Passkey) => Passkey, by?: `0x${string}`) => {
    const own = createPasskey();
    const holder = await chain.deployHolder(own.key);
    const alice = person();
    const { txHash } = await chain.register({ did: alice.did }, by ? {} : { holder });
    expect(await record(alice, txHash, await prove(passkeyOf(own), alice, holder))).toBe('recorded');
    await t.work();
    return told(alice);
  };

  test('by the key of the controller shows it, whose key it is from then on', async () => {
    expect(await claimWith((own) => own)).toBe('confirmed, proven');
  });

  test('under another key, or for another account than the controller, fails its claim: proof_invalid', async () => {
    expect(await claimWith(() => createPasskey())).toBe('failed');
    expect(await claimWith((own) => own, '0x')).toBe('failed');
    const failures = await t.rows(`SELECT failure FROM registrations`);
    expect(failures.map(({ failure }) => failure)).toEqual(['proof_invalid', 'proof_invalid']);
  });

  test('of a controller that shows no key waits for the final block, then its claim fails', async () => {
    await t.stop();
    t = await start({}, { FINALITY_BLOCKS: '3' });
    const alice = person();
    const [passkey, wallet] = [createPasskey(), devAccount('bob')];
    const { txHash } = await chain.register({ did: alice.did }, { wallet });
    await record(alice, txHash, await prove(passkey, alice, wallet.address));
    await t.work();
    expect(await told(alice)).toBe('confirmed');
    await chain.mine(3);
    await look();
    expect(await told(alice)).toBe('failed');
  });

  test('is added later by a request that is the same but for it', async () => {
    const passkey = createPasskey();
    const holder = await chain.deployHolder(passkey.key);
    const alice = person();
    const { txHash } = await chain.register(onChain(alice), { holder });
    await record(alice, txHash);
    await t.work();
    expect(await told(alice)).toBe('confirmed, aliased');
    expect(await record(alice, txHash, await prove(passkey, alice, holder))).toBe('recorded');
    await t.work();
    expect(await told(alice)).toBe('confirmed, aliased, proven');
    await t.clock.advance(60 * MINUTE);
    expect(await record(alice, txHash, await prove(passkey, alice, holder))).toBe('recorded');
    expect(await t.rows('SELECT count(*) AS n FROM registrations')).toEqual([{ n: 2 }]);
  });

  test('is not judged again by a retry, also after its end', async () => {
    const passkey = createPasskey();
    const holder = await chain.deployHolder(passkey.key);
    const alice = person();
    const { txHash } = await chain.register(onChain(alice), { holder });
    const proof = await prove(passkey, alice, holder);
    await record(alice, txHash, proof);
    await t.clock.advance(60 * MINUTE);
    expect(await record(alice, txHash, proof)).toBe('recorded');
    expect(await t.rows('SELECT count(*) AS n FROM registrations')).toEqual([{ n: 1 }]);
  });
});

test('a verified key stays while its event is in the same block, also when its owner has replaced it', async () => {
  const passkey = createPasskey();
  const holder = await chain.deployHolder(passkey.key);
  const alice = person();
  const { txHash } = await chain.register({ did: alice.did }, { holder });
  await record(alice, txHash, await prove(passkey, alice, holder));
  await t.work();
  expect(await told(alice)).toBe('confirmed, proven');
  // The account shows another key from now on.
  const other = await chain.deployHolder(createPasskey().key);
  await chain.rpc('anvil_setCode', [holder, await chain.rpc('eth_getCode', [other, 'latest'])]);
  await look();
  expect(await told(alice)).toBe('confirmed, proven');
});

test('a did:pkh that names another address than the controller fails: did_not_yours; any other DID is a label', async () => {
  const wallet = devAccount('executor');
  const alice = { ...person(), did: `did:pkh:eip155:84532:0x${'12'.repeat(20)}` };
  const bob = { ...person(), did: `did:pkh:eip155:84532:${wallet.address}` };
  await record(alice, (await chain.register({ did: alice.did })).txHash);
  await record(bob, (await chain.register({ did: bob.did }, { wallet })).txHash);
  await t.work();
  expect([await told(alice), await told(bob)]).toEqual(['failed', 'confirmed']);
  const { body } = await t.call('GET /api/dids/lookup', { credentialId: bob.credentialId });
  expect(body.proofs).toEqual({ identifier: null, controller: null, did: 'address' });
});

async function pendingHash(): Promise<string> {
  for (;;) {
    const { transactions } = (await chain.rpc('eth_getBlockByNumber', ['pending', false])) as {
      transactions: string[];
    };
    if (transactions[0]) return transactions[0];
    await Bun.sleep(5);
  }
}

/** The same contract at another address. */
async function anotherRegistry(): Promise<`0x${string}`> {
  const { DIDRegistry } = await compileContracts();
  const address = `0x${'5e'.repeat(20)}` as const;
  await chain.rpc('anvil_setCode', [address, DIDRegistry?.deployedBytecode]);
  return address;
}
