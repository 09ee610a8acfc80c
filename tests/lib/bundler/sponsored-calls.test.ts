import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { AbiFunction, type Hex } from 'ox';
import { account2Abi, didRegistry2Abi } from '../../../contracts/abi.ts';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { toQuantity } from '../../../lib/chain/contract-call.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { accountCallData, openAccount, type SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { chainVars } from '../../support/chain-vars.ts';
import { settled } from '../../support/settled.ts';
import { CHEAP_GAS, startUpstream, type Upstream, willing } from '../../support/upstream.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const SOMEBODY = `0x${'5b'.repeat(20)}` as const;
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const HASH = `0x${'ab'.repeat(32)}` as const;
const TRANSFER = AbiFunction.from('function transfer(address to, uint256 amount)');
const APPROVE = AbiFunction.from('function approve(address to, uint256 amount)');
const BATCH_OF_7821 = AbiFunction.from('function execute(bytes32 mode, bytes data)');

let chain: Chain;
let contracts: Deployment;
let first: SmartAccount;
let second: SmartAccount;
let upstream: Upstream;
let t: TestVault;
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc);
  first = await openAccount(chain.rpc, contracts, createPasskey());
  second = await openAccount(chain.rpc, contracts, createPasskey(), 0n, 2);
  upstream = startUpstream();
});
afterAll(async () => {
  await upstream.stop();
  await chain.stop();
});
beforeEach(async () => {
  upstream.received.length = 0;
  upstream.answer = willing;
  t = await open();
});
const opened: TestVault[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.stop();
});

async function open(vars: Record<string, string> = {}): Promise<TestVault> {
  const settings = { ...chainVars(chain.url, contracts), BUNDLER_URL: upstream.url, RATE_LIMIT_PROXY_PER_IP: '100000' };
  const vault = await startVault({ ...settings, ...vars });
  opened.push(vault);
  await vault.call('GET /readyz');
  return vault;
}

const draft = ({ address, factory, factoryData }: SmartAccount, callData: string, more: object = {}) => ({
  sender: address,
  nonce: '0x0',
  callData,
  factory,
  factoryData,
  ...CHEAP_GAS,
  ...more,
});

async function ask(operation: object, to: Pick<TestVault, 'call'> = t) {
  const params = [operation, contracts.entryPoint];
  const request = { jsonrpc: '2.0', id: 1, method: 'pm_sponsorUserOperation', params };
  return (await to.call('POST /api/bundler', request)).body;
}

const refused = (reason: unknown) => ({
  code: -32501,
  message: 'sponsorship_refused',
  data: { kind: 'paymaster_rejected', reason },
});

const own = (name: string, args: readonly unknown[] = []) =>
  AbiFunction.encodeData(AbiFunction.fromAbi(account2Abi, name as never), args as never) as Hex.Hex;
const ofRegistry = (name: string, args: readonly unknown[]) => ({
  target: contracts.didRegistry,
  data: AbiFunction.encodeData(AbiFunction.fromAbi(didRegistry2Abi, name as never), args as never) as Hex.Hex,
});
const usdc = (data = AbiFunction.encodeData(TRANSFER, [SOMEBODY, 5n])) => ({ target: USDC, data }) as const;

test('60 throw-away keys from one client, with arbitrary calls: nobody is asked, and nothing is counted (M6)', async () => {
  const mallory = t.from('203.0.113.7');
  const replies = [];
  for (let n = 0; n < 60; n++) {
    const account = await openAccount(chain.rpc, contracts, createPasskey(), 0n, n % 2 === 0 ? 1 : 2);
    const callData = accountCallData([{ target: SOMEBODY, data: '0xdeadbeef' }]);
    const params = [draft(account, callData), contracts.entryPoint];
    const request = { jsonrpc: '2.0', id: 1, method: 'pm_sponsorUserOperation', params };
    replies.push((await mallory.call('POST /api/bundler', request, { Origin: 'https://some-blog.example' })).body);
  }
  expect(replies.filter(({ result }) => result !== undefined)).toEqual([]);
  expect(replies[0].error).toEqual(refused(expect.stringContaining(`0xdeadbeef of ${SOMEBODY}`)));
  expect(upstream.received).toEqual([]);
  expect(await t.rows('SELECT 1 FROM sponsorships')).toEqual([]);
  // Somebody without ether still pays.
  expect((await ask(draft(first, accountCallData([usdc()])))).result).toBeDefined();
});

describe('sponsored calls', () => {
  const batch = (mode: Hex.Hex, calls: readonly object[]) =>
    AbiFunction.encodeData(BATCH_OF_7821, [
      mode,
      accountCallData(calls as never).replace('0x34fcd5be', '0x') as Hex.Hex,
    ]);
  const MODE = `0x01${'0'.repeat(62)}` as const;

  const allowed: Record<string, () => readonly [SmartAccount, string]> = {
    'a transfer of ether': () => [first, accountCallData([{ target: SOMEBODY, value: 1n }])],
    'a transfer of USDC': () => [first, accountCallData([usdc()])],
    'nothing, to itself': () => [first, accountCallData([{ target: first.address }])],
    'a registration': () => [first, accountCallData([ofRegistry('register', [HASH, HASH, ''])])],
    'a DID that moves, and money': () => [
      first,
      accountCallData([
        ofRegistry('moveDid', [HASH, 0n, contracts.accountFactory2, '0x']),
        usdc(),
        { target: SOMEBODY, value: 7n },
      ]),
    ],
    'a key, directly': () => [second, own('addKey', [1n, 2n, HASH])],
    'a key, by execute': () => [
      second,
      accountCallData([{ target: second.address, data: own('addKey', [1n, 2n, HASH]) }]),
    ],
    'several of keys and guardian': () => [
      second,
      accountCallData(
        [own('removeKey', [0, 1n, 2n]), own('nameKey', [0, HASH]), own('setGuardian', [SOMEBODY, 86_400, HASH])].map(
          (data) => ({ target: second.address, data }),
        ),
      ),
    ],
    'a stop of a recovery': () => [second, own('cancelRecovery')],
    'a veto': () => [second, own('vetoRecovery', ['0x00'])],
    'the end of a recovery': () => [second, own('finishRecovery')],
    'a batch of ERC-7821': () => [second, batch(MODE, [usdc(), { target: SOMEBODY, value: 1n }])],
  };
  test.each(Object.keys(allowed))('%s is sponsored', async (name) => {
    const [account, callData] = allowed[name]?.() ?? [first, '0x'];
    expect([name, (await ask(draft(account, callData))).result]).toEqual([name, 'pm_sponsorUserOperation']);
  });

  const denied: Record<string, () => readonly [SmartAccount, string]> = {
    'a creation alone': () => [first, '0x'],
    'a void of a nonce that nobody watches': () => [first, own('executeBatch', [[]])],
    'the same of the second kind': () => [second, own('executeBatch', [[]])],
    'another contract': () => [first, accountCallData([{ target: SOMEBODY, data: '0xdeadbeef' }])],
    'ether for a contract': () => [first, accountCallData([{ target: contracts.didRegistry, value: 1n }])],
    'ether for a factory, beside a payment': () => [
      first,
      accountCallData([usdc(), { target: contracts.accountFactory, value: 1n }]),
    ],
    'ether with data': () => [first, accountCallData([{ target: SOMEBODY, value: 1n, data: '0xdeadbeef' }])],
    'no ether and no data': () => [first, accountCallData([{ target: SOMEBODY }])],
    'an allowance of USDC': () => [first, accountCallData([usdc(AbiFunction.encodeData(APPROVE, [SOMEBODY, 5n]))])],
    'USDC with ether': () => [first, accountCallData([{ ...usdc(), value: 1n }])],
    'USDC with more behind it': () => [first, accountCallData([usdc(`${usdc().data}00`)])],
    'another token': () => [first, accountCallData([{ ...usdc(), target: SOMEBODY }])],
    'a registration for others': () => [
      first,
      accountCallData([{ target: contracts.didRegistry, data: `0xd43af7bd${'0'.repeat(64 * 4)}` }]),
    ],
    'the registry with ether': () => [first, accountCallData([{ ...ofRegistry('freeAlias', [HASH]), value: 1n }])],
    'a batch with one other call': () => [first, accountCallData([usdc(), { target: SOMEBODY, data: '0xdeadbeef' }])],
    'many calls': () => [first, accountCallData(Array.from({ length: 17 }, () => usdc()))],
    'an upgrade': () => [second, own('upgradeToAndCall', [SOMEBODY, '0x'])],
    'an upgrade by execute': () => [
      second,
      accountCallData([{ target: second.address, data: own('upgradeToAndCall', [SOMEBODY, '0x']) }]),
    ],
    'itself within itself': () => [
      second,
      accountCallData([{ target: second.address, data: own('executeBatch', [[]]) }]),
    ],
    'a function that it lacks': () => [first, `0xdeadbeef${'0'.repeat(64)}`],
    'another mode of ERC-7821': () => [second, batch(`0x02${'0'.repeat(62)}`, [usdc()])],
    'a batch of ERC-7821 with one other call': () => [second, batch(MODE, [{ target: SOMEBODY, data: '0xdeadbeef' }])],
    'half a call': () => [first, accountCallData([usdc()]).slice(0, 80)],
    'an address with more bits': () => [
      first,
      accountCallData([usdc()]).replace(/^0xb61d27f60{24}/, '0xb61d27f61'.padEnd(34, '0')),
    ],
  };
  test.each(Object.keys(denied))('%s is refused, and nobody is asked', async (name) => {
    const [account, callData] = denied[name]?.() ?? [first, '0x'];
    const { error } = await ask(draft(account, callData));
    expect([name, error]).toEqual([name, refused(expect.stringContaining('not sponsored'))]);
    expect(upstream.received).toEqual([]);
  });
});

describe('SPONSOR_CALLS', () => {
  const other = accountCallData([{ target: SOMEBODY, data: '0xdeadbeef' }]);
  const another = accountCallData([{ target: SOMEBODY, data: '0xfeedbeef' }]);

  test('adds contracts, functions, or all', async () => {
    const outcomes = async (calls: string) => {
      const vault = await open({ SPONSOR_CALLS: calls });
      const replies = [
        await ask(draft(first, other), vault),
        await ask(draft(first, another, { nonce: '0x1' }), vault),
      ];
      return replies.map(({ result }) => result !== undefined);
    };
    expect(await outcomes(SOMEBODY.toUpperCase().replace('0X', '0x'))).toEqual([true, true]);
    expect(await outcomes(`${USDC}, ${SOMEBODY}:0xDEADBEEF`)).toEqual([true, false]);
    expect(await outcomes('*')).toEqual([true, true]);
  });

  test('* sponsors what it cannot read, for own accounts alone', async () => {
    const vault = await open({ SPONSOR_CALLS: '*' });
    expect((await ask(draft(first, '0xdeadbeef'), vault)).result).toBeDefined();
    const { error } = await ask({ ...draft(first, '0xdeadbeef'), sender: SOMEBODY }, vault);
    expect(error).toEqual(refused('the sender is not an account of the configured factory'));
  });

  test.each(['0x12', `${SOMEBODY}:0x12`, `${SOMEBODY}:`, '* ,x'])('%p is no list of calls', async (calls) => {
    expect(await settled(startVault({ SPONSOR_CALLS: calls }))).toThrow('SPONSOR_CALLS');
  });
});

describe('ether that is sponsored', () => {
  const OTHER = `0x${'7a'.repeat(20)}` as const;
  const pays = async (target: Hex.Hex, vault = t) =>
    (await ask(draft(first, accountCallData([{ target, value: 1n }])), vault)).result !== undefined;

  test('goes to accounts of the factories while their code is theirs, and to what is delegated by EIP-7702 (L13)', async () => {
    const create = ({ factory, factoryData }: SmartAccount) =>
      sendTransaction(chain.rpc, devAccount('bob').privateKey, { to: factory, data: factoryData });
    const own = await openAccount(chain.rpc, contracts, createPasskey());
    const later = await openAccount(chain.rpc, contracts, createPasskey(), 0n, 2);
    await create(own);
    await create(later);
    expect([await pays(own.address), await pays(later.address)]).toEqual([true, true]);
    const slot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
    await chain.rpc('anvil_setStorageAt', [later.address, slot, `0x${SOMEBODY.slice(2).padStart(64, '0')}`]);
    expect(await pays(later.address)).toBe(false);
    await chain.rpc('anvil_setCode', [OTHER, `0xef0100${contracts.didRegistry.slice(2)}`]);
    expect(await pays(OTHER)).toBe(true);
    await chain.rpc('anvil_setCode', [OTHER, '0x00']);
    expect(await pays(OTHER)).toBe(false);
    expect(await pays(OTHER, await open({ SPONSOR_CALLS: OTHER }))).toBe(true);
  });
});

describe('SPONSOR_DAILY_WEI', () => {
  /** What `CHEAP_GAS` may cost, in gwei. */
  const WORST = 8_601;
  const day = (operations: number) => (operations * WORST) / 1e9;
  const money = { SPONSOR_MAX_FEE: String(day(1).toFixed(9)) };
  const asked = (nonce: number, to: Pick<TestVault, 'call'>, account = first) =>
    ask(draft(account, accountCallData([usdc()]), { nonce: toQuantity(BigInt(nonce)) }), to);

  test('is the sum of the worst cases of a rolling day, one for each nonce, and a refusal says when', async () => {
    const vault = await open({ ...money, SPONSOR_DAILY_WEI: day(2).toFixed(9) });
    expect((await asked(0, vault)).result).toBeDefined();
    expect(await vault.rows('SELECT gwei FROM sponsorships')).toEqual([{ gwei: WORST }]);
    await vault.clock.advance(1_000);
    // The same once more takes nothing, and its day begins again.
    for (const nonce of [1, 1]) expect((await asked(nonce, vault)).result).toBeDefined();
    const data = { kind: 'throttled', limit: 'sponsor-wei', retry_after: DAY_MS / 1000 - 1 };
    const full = { code: -32504, message: 'sponsor_limit_reached', data };
    expect((await asked(2, vault)).error).toEqual(full);
    expect((await asked(0, vault)).result).toBeDefined();
    expect((await asked(2, vault)).error).toEqual({ ...full, data: { ...data, retry_after: DAY_MS / 1000 } });
    await vault.clock.advance(DAY_MS);
    expect((await asked(2, vault)).result).toBeDefined();
  });

  test('a network, and an account, take the larger of 5 % and three times SPONSOR_MAX_FEE', async () => {
    const vault = await open({ ...money, SPONSOR_DAILY_WEI: day(100).toFixed(9) });
    const accounts = await Promise.all(
      Array.from({ length: 6 }, () => openAccount(chain.rpc, contracts, createPasskey())),
    );
    const one = vault.from('203.0.113.7');
    const limits = [];
    for (const account of accounts) limits.push((await asked(0, one, account)).error?.data.limit);
    expect(limits).toEqual([undefined, undefined, undefined, undefined, undefined, 'sponsor-wei-per-network']);
    const ofAccount = [];
    for (let n = 0; n < 6; n++) ofAccount.push((await asked(n, vault.from(`198.51.100.${n}`))).error?.data.limit);
    expect(ofAccount).toEqual([undefined, undefined, undefined, undefined, undefined, 'sponsor-wei-per-account']);
  });

  test('an account with a final registration is counted by itself, and takes nothing of its network’s share (§5.1)', async () => {
    const vault = await open({ ...money, SPONSOR_DAILY_WEI: day(100).toFixed(9), SPONSOR_DAILY_MAX: '60' });
    const registered = (account: string, final: number) =>
      vault.rows(
        `INSERT INTO registrations (identifier, channel, app, did, did_hash, alias_hash, credential_id, tx_hash, status,
          holds, final, controller, registered_at, unseen_since) VALUES (:account, 'email', 'default', :account, '', '',
          :account, '', 'confirmed', 0, :final, :account, 1, 1)`,
        { account: account.toLowerCase(), final },
      );
    await registered(first.address, 1);
    await registered(second.address, 0);
    const one = vault.from('203.0.113.7');
    for (let nonce = 0; nonce < 5; nonce++) expect((await asked(nonce, one)).result).toBeDefined();
    expect(await vault.rows('SELECT DISTINCT network FROM sponsorships')).toEqual([{ network: null }]);
    expect((await asked(5, one)).error.data.limit).toBe('sponsor-wei-per-account');
    // Of 60 operations a network has 3; these five have taken none of them.
    const others = [];
    for (let nonce = 0; nonce < 4; nonce++) others.push((await asked(nonce, one, second)).error?.data.limit);
    expect(others).toEqual([undefined, undefined, undefined, 'sponsorships-per-network']);
  });

  test('a start with less than SPONSOR_MAX_FEE stops', async () => {
    const less = open({ SPONSOR_MAX_FEE: '0.002', SPONSOR_DAILY_WEI: '0.001' });
    expect(await settled(less)).toThrow('SPONSOR_DAILY_WEI must not be less than SPONSOR_MAX_FEE');
  });
});

describe('the limit of one account', () => {
  const asked = (nonce: number, to = t, account = first) =>
    ask(draft(account, accountCallData([usdc()]), { nonce: toQuantity(BigInt(nonce)) }), to);

  test('is a number of operations of one account in a rolling day, at the exact edge; others go on', async () => {
    for (let nonce = 0; nonce < 20; nonce++) expect((await asked(nonce)).result).toBeDefined();
    const { error } = await asked(20);
    const data = { kind: 'throttled', limit: 'sponsorships-per-account', retry_after: DAY_MS / 1000 };
    expect(error).toEqual({ code: -32504, message: 'sponsor_limit_reached', data });
    expect(upstream.received.filter(({ body }) => body.method === 'pm_sponsorUserOperation')).toHaveLength(20);
    // One that is counted already is not counted again.
    expect((await asked(3)).result).toBeDefined();
    expect((await asked(20, t, second)).result).toBeDefined();
    await t.clock.advance(DAY_MS - 1);
    expect((await asked(20)).error.data.retry_after).toBe(1);
    await t.clock.advance(1);
    expect((await asked(20)).result).toBeDefined();
  });

  test('holds over many requests at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 32 }, (_, n) => asked(n)));
    expect(replies.filter(({ result }) => result !== undefined)).toHaveLength(20);
    expect(await t.rows('SELECT 1 FROM sponsorships')).toHaveLength(20);
  });

  test('is shown and cleared as other limits are', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => asked(n)));
    const operator = { Authorization: `Bearer ff${'0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'}` };
    const { body } = await t.call('GET /v1/console/limits', { kind: 'sponsorships-per-account' }, operator);
    expect(body.limits).toMatchObject([{ key: first.address.toLowerCase(), used: 20, max: 20, reached: true }]);
    const cleared = { kind: 'sponsorships-per-account', key: first.address };
    expect((await t.call('POST /v1/console/limits/clear', cleared, operator)).body).toMatchObject({ cleared: 20 });
    expect((await asked(20)).result).toBeDefined();
  });
});
