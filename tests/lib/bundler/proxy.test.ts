import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { toQuantity } from '../../../lib/chain/contract-call.ts';
import { SLOT_MS } from '../../../lib/limits/budget-store.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { accountCallData, openAccount, type SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { chainVars } from '../../support/chain-vars.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { until } from '../../support/until.ts';
import { CHEAP_GAS, errorOf, startUpstream, type Upstream, willing } from '../../support/upstream.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const SPONSORING = ['pm_sponsorUserOperation', 'pm_getPaymasterStubData', 'pm_getPaymasterData'] as const;

let chain: Chain;
let node: Forwarder;
let contracts: Deployment;
let alice: SmartAccount;
let upstream: Upstream;
let t: TestVault;
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc);
  node = startForwarder(chain.url);
  alice = await openAccount(chain.rpc, contracts, createPasskey());
  upstream = startUpstream();
});
afterAll(async () => {
  await Promise.all([upstream.stop(), node.stop()]);
  await chain.stop();
});
beforeEach(async () => {
  node.trouble = undefined;
  upstream.received.length = 0;
  upstream.answer = willing;
  t = await startVault(settings());
  // The tables are made at first use.
  await t.call('GET /readyz');
});
afterEach(() => t.stop());

const settings = (max = 3) => ({
  ...chainVars(node.url, contracts),
  BUNDLER_URL: upstream.url,
  SPONSOR_DAILY_MAX: String(max),
  RATE_LIMIT_PROXY_PER_IP: '100000',
});

/** A draft that creates its sender. */
const draft = ({ address, factory, factoryData }: SmartAccount, nonce = '0x0') => ({
  sender: address,
  nonce,
  callData: accountCallData([{ target: address }]),
  factory,
  factoryData,
  ...CHEAP_GAS,
});

/** What the sponsor was asked by this method. */
const askedBy = (method: string) => upstream.received.filter(({ body }) => body.method === method);

/** A request for a sponsor, in whatever form its method takes. */
function request(operation: object, method: string = SPONSORING[0], id: unknown = 1) {
  const more = method.startsWith('pm_get') ? ['0x14a34', {}] : [];
  return { jsonrpc: '2.0', id, method, params: [operation, contracts.entryPoint, ...more] };
}

const ask = (operation: object, method?: string, to: Pick<TestVault, 'call'> = t) =>
  to.call('POST /api/bundler', request(operation, method));

describe('a sponsor is asked for an account of the configured factory alone', () => {
  test.each(SPONSORING)('%s of an account that the operation creates', async (method) => {
    const reply = await ask(draft(alice), method);
    const result = method === SPONSORING[1] ? expect.objectContaining({ paymaster: CHEAP_GAS.paymaster }) : method;
    expect([reply.status, reply.body]).toEqual([200, { jsonrpc: '2.0', id: 1, result }]);
    const { params } = request(draft(alice), method);
    expect(askedBy(method).map(({ body }) => body.params)).toEqual([params]);
  });

  test.each(SPONSORING)('the context of %s is the operator’s, never the caller’s (L1)', async (method) => {
    const own = await startVault({ ...settings(), SPONSOR_CONTEXT: '{"sponsorshipPolicyId":"sp_ours"}' });
    const chain = method.startsWith('pm_get') ? ['0x14a34'] : [];
    const context = { sponsorshipPolicyId: 'sp_theirs' };
    for (const more of [[context], [{}], [null], []]) {
      const params = [draft(alice), contracts.entryPoint, ...chain, ...more];
      await own.call('POST /api/bundler', { jsonrpc: '2.0', id: 1, method, params });
    }
    const wanted = [draft(alice), contracts.entryPoint, ...chain, { sponsorshipPolicyId: 'sp_ours' }];
    expect(askedBy(method).map(({ body }) => body.params)).toEqual(Array.from({ length: 4 }, () => wanted));
    // Nor is it the caller's where the vault itself asks for a stub.
    const stubs = askedBy('pm_getPaymasterStubData').map(({ body }) => body.params.slice(2));
    expect(stubs).toEqual(Array.from({ length: 4 }, () => ['0x14a34', { sponsorshipPolicyId: 'sp_ours' }]));
    await own.stop();
  });

  test('without SPONSOR_CONTEXT the caller’s context is left out all the same (L1)', async () => {
    for (const method of SPONSORING) {
      const more = method.startsWith('pm_get') ? ['0x14a34'] : [];
      const params = [draft(alice), contracts.entryPoint, ...more, { sponsorshipPolicyId: 'sp_theirs' }];
      await t.call('POST /api/bundler', { jsonrpc: '2.0', id: 1, method, params });
    }
    const asked = SPONSORING.flatMap((method) => askedBy(method).map(({ body }) => body.params.slice(2)));
    // A stub is asked for by the vault itself too.
    expect(asked).toEqual([[], ['0x14a34', {}], ['0x14a34', {}], ['0x14a34', {}], ['0x14a34', {}]]);
  });

  test.each(SPONSORING)('%s of anyone else is refused, and nobody is asked', async (method) => {
    for (const operation of [
      { ...draft(alice), sender: contracts.didRegistry },
      { sender: contracts.didRegistry, nonce: '0x0', callData: '0x' },
      { sender: alice.address, nonce: '0x0', callData: '0x' },
      { ...draft(alice), factory: contracts.didRegistry },
    ]) {
      const reply = await ask(operation, method);
      const data = { kind: 'paymaster_rejected', reason: 'the sender is not an account of the configured factory' };
      const error = { code: -32501, message: 'sponsorship_refused', data };
      expect([reply.status, reply.body]).toEqual([200, { jsonrpc: '2.0', id: 1, error }]);
    }
    expect(upstream.received).toEqual([]);
    expect(await t.rows('SELECT * FROM sponsorships')).toEqual([]);
  });

  test('the same holds of a method that BUNDLER_EXTRA_METHODS adds', async () => {
    const own = await startVault({ ...settings(), BUNDLER_EXTRA_METHODS: 'pm_validateSponsorshipPolicies' });
    const method = 'pm_validateSponsorshipPolicies';
    const theirs = { jsonrpc: '2.0', id: 1, method, params: [draft(alice), contracts.entryPoint, ['sp_theirs']] };
    expect((await own.call('POST /api/bundler', theirs)).body.result).toBe(method);
    expect(askedBy(method).map(({ body }) => body.params)).toEqual([[draft(alice), contracts.entryPoint]]);
    const other = await ask({ ...draft(alice), sender: contracts.didRegistry }, method, own);
    expect(other.body.error.code).toBe(-32501);
    const bare = await own.call('POST /api/bundler', { jsonrpc: '2.0', id: 1, method, params: [] });
    expect([bare.status, bare.body.error.code]).toEqual([200, -32602]);
    await own.stop();
  });

  test('sending and estimating are for every account: they spend nothing of the operator', async () => {
    const operation = { ...draft(alice), sender: contracts.didRegistry };
    expect((await ask(operation, 'eth_estimateUserOperationGas')).body.result).toBeDefined();
    expect(await t.rows('SELECT * FROM sponsorships')).toEqual([]);
  });

  test('while the chain cannot be read nobody is sponsored: −32002 rpc_error', async () => {
    node.trouble = () => new Response('', { status: 503 });
    // Of one that the operation creates, the known factory's address says enough.
    const { factory, factoryData, ...deployed } = draft(alice);
    const reply = await ask(deployed);
    const error = { code: -32002, message: 'rpc_error', data: { kind: 'unavailable' } };
    expect([reply.status, reply.body]).toEqual([200, { jsonrpc: '2.0', id: 1, error }]);
    const batch = await t.call('POST /api/bundler', [request(deployed)] as never);
    expect(batch.body).toEqual([{ jsonrpc: '2.0', id: 1, error }]);
    expect(upstream.received).toEqual([]);
  });
});

describe('SPONSOR_DAILY_MAX', () => {
  const limited = (retryAfter?: number) => {
    const reset = retryAfter === undefined ? {} : { retry_after: retryAfter };
    const data = { kind: 'throttled', limit: 'sponsorships-per-day', ...reset };
    return { code: -32504, message: 'sponsor_limit_reached', data };
  };

  test('is a number of user operations in a rolling day: −32504 beyond it, at the exact edge', async () => {
    await ask(draft(alice, '0x0'));
    await t.clock.advance(1500);
    for (const nonce of ['0x1', '0x2']) expect((await ask(draft(alice, nonce))).body.result).toBe(SPONSORING[0]);
    const reply = await ask(draft(alice, '0x3'));
    expect([reply.status, reply.body.error]).toEqual([200, limited((DAY_MS + SLOT_MS) / 1000 - 1)]);
    expect(reply.headers.get('retry-after')).toBeNull();
    expect(askedBy(SPONSORING[0])).toHaveLength(3);
    await t.clock.advance(DAY_MS + SLOT_MS - 1501);
    expect((await ask(draft(alice, '0x3'))).body.error).toEqual(limited(1));
    await t.clock.advance(1);
    for (const nonce of ['0x3', '0x4', '0x5']) expect((await ask(draft(alice, nonce))).body.result).toBe(SPONSORING[0]);
    expect((await ask(draft(alice, '0x6'))).body.error.code).toBe(-32504);
  });

  test('counts an operation once, over all methods and spellings of it', async () => {
    for (const method of [SPONSORING[0], SPONSORING[2]])
      expect((await ask(draft(alice), method)).body.result).toBe(method);
    const spelt = { ...draft(alice, '0x000'), sender: alice.address.toLowerCase() };
    expect((await ask(spelt)).body.result).toBe(SPONSORING[0]);
    expect(await t.rows('SELECT sender, nonce FROM sponsorships')).toEqual([
      { sender: alice.address.toLowerCase(), nonce: '0x0' },
    ]);
  });

  test('counts when the sponsor has said yes: one that it refused, or never answered, is not counted', async () => {
    const own = await startVault(settings(1));
    upstream.answer = (received) => errorOf(received, { code: -32501, message: 'no' });
    for (const nonce of ['0x0', '0x1'])
      expect((await ask(draft(alice, nonce), undefined, own)).body.error.data.kind).toBe('paymaster_rejected');
    upstream.answer = () => new Response('', { status: 500 });
    expect((await ask(draft(alice, '0x2'), undefined, own)).body.error.message).toBe('bundler_error');
    upstream.answer = willing;
    expect((await ask(draft(alice, '0x3'), undefined, own)).body.result).toBe(SPONSORING[0]);
    expect((await ask(draft(alice, '0x0'), undefined, own)).body.error).toEqual(limited(87_000));
    expect(await own.rows('SELECT nonce FROM sponsorships')).toEqual([{ nonce: '0x3' }]);
    await own.stop();
  });

  test('one IPv4 address, or one /48, takes at most 5 % of the day; everybody else goes on (M3)', async () => {
    const own = await startVault(settings(1000));
    // Twenty operations of each account, which is what one account has.
    const accounts = await Promise.all(
      Array.from({ length: 9 }, () => openAccount(chain.rpc, contracts, createPasskey())),
    );
    const flood = (from: (n: number) => string, turn: number) =>
      Promise.all(
        Array.from({ length: 60 }, (_, n) => {
          const account = accounts[turn * 3 + Math.floor(n / 20)] ?? alice;
          return ask(draft(account, toQuantity(BigInt(n))), undefined, own.from(from(n)));
        }),
      );
    const yes = (replies: Awaited<ReturnType<typeof flood>>) => replies.filter(({ body }) => body.result !== undefined);
    const one = await flood(() => '203.0.113.7', 0);
    expect(yes(one)).toHaveLength(50);
    const data = { kind: 'throttled', limit: 'sponsorships-per-network', retry_after: 87_000 };
    expect(one.find(({ body }) => body.error)?.body.error).toEqual({ ...limited(), data });
    expect(yes(await flood((n) => `2001:db8:1:${n.toString(16)}::1`, 1))).toHaveLength(50);
    expect(yes(await flood((n) => `198.51.100.${n}`, 2))).toHaveLength(60);
    await own.stop();
  });

  test('without a bundler nothing is counted', async () => {
    const own = await startVault({ ...settings(), BUNDLER_URL: '' });
    expect((await ask(draft(alice), undefined, own)).body.error.message).toBe('bundler_not_configured');
    await own.call('GET /readyz');
    expect(await own.rows('SELECT * FROM sponsorships')).toEqual([]);
    await own.stop();
  });

  test('in a batch is an error of its item', async () => {
    const own = await startVault(settings(1));
    const items = [request(draft(alice, '0x0'), undefined, 1), request(draft(alice, '0x1'), undefined, 2)];
    const { status, body } = await own.call('POST /api/bundler', items as never);
    expect(status).toBe(200);
    expect(body.filter((item: { result?: unknown }) => item.result !== undefined)).toHaveLength(1);
    expect(body.find((item: { error?: unknown }) => item.error)).toMatchObject({ error: limited(87_000) });
    await own.stop();
  });

  test('0 sponsors nobody, and no waiting helps', async () => {
    const own = await startVault(settings(0));
    const reply = await ask(draft(alice), undefined, own);
    expect([reply.status, reply.body.error]).toEqual([200, limited()]);
    await own.stop();
  });

  test('100 operations at the same time, over two vaults on one database, are exactly as many', async () => {
    const folder = temporaryFolder();
    const vaults = await Promise.all([
      startVault(settings(7), { dir: folder.path }),
      startVault(settings(7), { dir: folder.path }),
    ]);
    const from = (n: number) => vaults[n % 2]?.from(`203.0.113.${n}`);
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, n) => ask(draft(alice, `0x${n.toString(16)}`), undefined, from(n))),
    );
    expect([
      replies.filter(({ body }) => body.result === SPONSORING[0]).length,
      replies.filter(({ body }) => body.error?.code === -32504).length,
    ]).toEqual([7, 93]);
    expect(await vaults[0]?.rows('SELECT * FROM sponsorships')).toHaveLength(7);
    for (const vault of vaults) await vault.stop();
    const again = await startVault(settings(7), { dir: folder.path });
    expect((await ask(draft(alice, '0xffff'), undefined, again)).body.error.code).toBe(-32504);
    await again.stop();
    folder.remove();
  });

  test('a day later the rows are gone', async () => {
    await ask(draft(alice));
    await t.clock.advance(DAY_MS);
    await t.work();
    expect(await t.rows('SELECT * FROM sponsorships')).toEqual([]);
  });
});

describe('BUNDLER_SENDERS', () => {
  const SIGNED = {
    ...CHEAP_GAS,
    callGasLimit: '0x1',
    verificationGasLimit: '0x1',
    preVerificationGas: '0x1',
    signature: '0x',
  };
  const send = (operation: object, to: TestVault) => ask({ ...operation, ...SIGNED }, 'eth_sendUserOperation', to);
  const forwarded = () => askedBy('eth_sendUserOperation').length;
  /** Succeeds in validation where the gas price is 0, as in a simulation, and fails where it is not. */
  const FREE_RIDER = { sender: `0x${'f4'.repeat(20)}`, nonce: '0x0', callData: '0x' };

  test('own: an operation of anybody’s contract is not sent, so that the executor pays for none (M4)', async () => {
    const own = await startVault({ ...settings(), BUNDLER_SENDERS: 'own' });
    await chain.rpc('anvil_setCode', [FREE_RIDER.sender, '0x3a600a57600160005260206000f35b60006000fd']);
    for (const operation of [
      FREE_RIDER,
      { ...FREE_RIDER, factory: contracts.didRegistry, factoryData: '0x' },
      { ...draft(alice), sender: FREE_RIDER.sender },
      { sender: alice.address, nonce: '0x0', callData: '0x' },
    ]) {
      const { status, body } = await send(operation, own);
      const error = { code: -32003, message: 'sender_not_served', data: { kind: 'sender_not_served' } };
      expect([status, body]).toEqual([200, { jsonrpc: '2.0', id: 1, error }]);
    }
    expect(forwarded()).toBe(0);
    await own.stop();
  });

  test('own: accounts that a factory creates in the operation, or has created, are sent', async () => {
    const own = await startVault({ ...settings(), BUNDLER_SENDERS: 'own' });
    expect((await send(draft(alice), own)).body.error).toBeUndefined();
    await own.stop();
    expect(forwarded()).toBe(1);
  });

  test('own: accounts of a factory that came before are sent, created by the operation or before', async () => {
    // Another factory is the configured one.
    const former = {
      ACCOUNT_FACTORY_2_ADDRESS: contracts.accountFactory,
      ACCOUNT_FACTORIES_FORMER: contracts.accountFactory2,
    };
    const own = await startVault({ ...settings(), ...former, BUNDLER_SENDERS: 'own' });
    const account = await openAccount(chain.rpc, contracts, createPasskey(), 0n, 2);
    const other = await openAccount(chain.rpc, contracts, createPasskey(), 0n, 2);
    const refused = { ...draft(account), sender: other.address };
    expect((await send(refused, own)).body.error).toMatchObject({ message: 'sender_not_served' });
    expect((await send(draft(account), own)).body.error).toBeUndefined();
    const { factory, factoryData, ...deployed } = draft(account);
    expect((await send(deployed, own)).body.error).toMatchObject({ message: 'sender_not_served' });
    await chain.rpc('eth_sendTransaction', [{ from: devAccount('bob').address, to: factory, data: factoryData }]);
    await until('it is there', async () => (await chain.rpc('eth_getCode', [account.address, 'latest'])) !== '0x');
    expect((await send(deployed, own)).body.error).toBeUndefined();
    await own.stop();
    expect(forwarded()).toBe(2);
  });

  test('any: everybody’s are sent', async () => {
    expect((await send(FREE_RIDER, t)).body.error).toBeUndefined();
    expect(forwarded()).toBe(1);
  });
});
