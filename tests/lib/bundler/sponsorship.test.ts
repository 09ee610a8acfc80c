import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Address, Hex } from 'ox';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { isOwnSender } from '../../../lib/bundler/sponsorship.ts';
import { createPredictAddress } from '../../../lib/chain/account-address.ts';
import { createFactoryFacts } from '../../../lib/chain/own-factory.ts';
import { createRpc } from '../../../lib/chain/rpc.ts';
import { deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { openAccount, type SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { startTestChain, type TestChain } from '../../support/onchain.ts';
import { createSecond, pointOf, secondAddress } from '../../support/second-account.ts';
import { failureOf } from '../../support/secrecy.ts';

const SOMEBODY = `0x${'5b'.repeat(20)}` as const;

let chain: TestChain;
let contracts: Awaited<ReturnType<typeof deployContracts>>;
/** One account that is there, one that is not. */
let alice: SmartAccount;
let bob: SmartAccount;
beforeAll(async () => {
  chain = await startTestChain();
  contracts = await deployContracts(chain.rpc);
  alice = await openAccount(chain.rpc, contracts, createPasskey(), 7n);
  bob = await openAccount(chain.rpc, contracts, createPasskey());
  await create(alice);
});
afterAll(() => chain.stop());

const create = ({ factory, factoryData }: SmartAccount) =>
  sendTransaction(chain.rpc, devAccount('bob').privateKey, { to: factory, data: factoryData });

/** Whether the vault would sponsor, with another factory if there is one. */
function isOwn(
  sender: string,
  creation: { factory?: string; factoryData?: string } = {},
  {
    factory = contracts.accountFactory,
    factory2 = contracts.accountFactory2,
    url = chain.url,
  }: { factory?: Address.Address; factory2?: Address.Address | null; url?: string } = {},
): Promise<boolean> {
  const log = () => {};
  const outside = { clock: systemClock, metrics: createMetrics(), log };
  const rpc = createRpc({ ...outside, urls: { 84532: url }, fetch });
  const config = {
    chainId: 84532,
    hyperauthFactoryAddress: factory,
    accountFactory2Address: factory2,
    accountFactoriesFormer: [],
  };
  const predict = createPredictAddress(
    { ...outside, config, rpc, witness: undefined },
    createFactoryFacts({ predictLocally: true }),
  );
  return isOwnSender({ config, rpc, predict }, { sender, nonce: '0x0', ...creation });
}

test('an account that is there is known by its code', async () => {
  expect(await isOwn(alice.address)).toBe(true);
  expect(await isOwn(alice.address.toLowerCase())).toBe(true);
});

test('an account that the same operation creates is known by key and salt', async () => {
  expect(await isOwn(bob.address, bob)).toBe(true);
  const upper = `0x${bob.factoryData.slice(2).toUpperCase()}`;
  expect(await isOwn(bob.address, { factory: bob.factory.toLowerCase(), factoryData: upper })).toBe(true);
  expect(await isOwn(alice.address, alice)).toBe(true);
});

test('an account that is not there, and that nobody creates, is none', async () => {
  expect(await isOwn(bob.address)).toBe(false);
});

test("wallets and other contracts are none, nor is another factory's account of the same key", async () => {
  const other = await deployContracts(chain.rpc, { entryPoint: '0.8' });
  const stranger = await openAccount(chain.rpc, other, alice.passkey, 7n);
  await create(stranger);
  for (const sender of [
    devAccount('alice').address,
    contracts.didRegistry,
    contracts.accountFactory,
    stranger.address,
  ]) {
    expect(await isOwn(sender)).toBe(false);
  }
  expect(await isOwn(stranger.address, stranger)).toBe(false);
});

test("code copied from an account makes none, nor do a key holder's words", async () => {
  await chain.rpc('anvil_setCode', [SOMEBODY, await chain.rpc('eth_getCode', [alice.address, 'latest'])]);
  expect(await isOwn(SOMEBODY)).toBe(false);
  expect(await isOwn(await chain.deployHolder(alice.passkey.key))).toBe(false);
});

test('an account of the second kind is known as the first ones are, where its factory is configured', async () => {
  const [there, missing] = [createPasskey().key, createPasskey().key];
  const [account, coming] = [
    await createSecond(chain.rpc, contracts, there, 7n),
    await secondAddress(chain.rpc, contracts, missing),
  ];
  const factoryData = `0x4c1ed7f5${[...pointOf(missing), 0n].map((word) => word.toString(16).padStart(64, '0')).join('')}`;
  const creation = { factory: contracts.accountFactory2, factoryData };
  expect([await isOwn(account), await isOwn(coming, creation), await isOwn(coming)]).toEqual([true, true, false]);
  expect(await isOwn(coming, { ...creation, factory: contracts.accountFactory })).toBe(false);
  const other = await deployContracts(chain.rpc, { entryPoint: '0.8' });
  for (const factory2 of [null, other.accountFactory2]) {
    expect(await isOwn(account, {}, { factory2 })).toBe(false);
    expect(await isOwn(coming, creation, { factory2 })).toBe(false);
  }
  await chain.rpc('anvil_setCode', [SOMEBODY, await chain.rpc('eth_getCode', [account, 'latest'])]);
  expect(await isOwn(SOMEBODY)).toBe(false);
});

test('an account of the second kind whose owners put other code under it is none, with and without its creation', async () => {
  const key = createPasskey().key;
  const account = await createSecond(chain.rpc, contracts, key);
  const words = [...pointOf(key), 0n].map((word) => word.toString(16).padStart(64, '0')).join('');
  const creation = { factory: contracts.accountFactory2, factoryData: `0x4c1ed7f5${words}` };
  const slot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
  const upgrade = (to: string) =>
    chain.rpc('anvil_setStorageAt', [account, slot, `0x${to.slice(2).padStart(64, '0')}`]);
  const both = async () => [await isOwn(account), await isOwn(account, creation)];
  expect(await both()).toEqual([true, true]);
  await upgrade(SOMEBODY);
  expect(await both()).toEqual([false, false]);
  const call = { to: contracts.accountFactory2, data: '0x5c60da1b' };
  await upgrade(`0x${String(await chain.rpc('eth_call', [call, 'latest'])).slice(26)}`);
  expect(await both()).toEqual([true, true]);
});

test('a creation of something else is none', async () => {
  const { factory, factoryData } = bob;
  const words = factoryData.slice(10);
  const wrong: Record<string, { factory?: string; factoryData?: string }> = {
    'another factory': { factory: SOMEBODY, factoryData },
    "another's account": { factory, factoryData: alice.factoryData },
    'another salt': { factory, factoryData: `${factoryData.slice(0, -1)}1` },
    'another function': { factory, factoryData: `0xe81b22ea${words}` },
    'more behind it': { factory, factoryData: `${factoryData}00` },
    'less of it': { factory, factoryData: factoryData.slice(0, -2) },
    nothing: { factory, factoryData: '0x' },
  };
  for (const [name, creation] of Object.entries(wrong)) {
    expect([name, await isOwn(bob.address, creation)]).toEqual([name, false]);
  }
});

test('accounts of another factory, whose code is unknown, are known by their key at the default salt', async () => {
  const holder = await chain.deployHolder(alice.passkey.key);
  const factory = `0x${'f0'.repeat(20)}` as const;
  const x = Hex.fromBytes(alice.passkey.key.x).slice(2);
  // Answers the holder's address when asked for this x and salt 0: X = calldata[4] ∧ ¬calldata[68], times the address.
  const code = `0x7f${x}60043514604435151673${holder.slice(2)}0260005260206000f3`;
  await chain.rpc('anvil_setCode', [factory, code]);
  expect(await isOwn(holder, {}, { factory })).toBe(true);
  expect(await isOwn(alice.address, {}, { factory })).toBe(false);
});

test('an unreachable chain is 502 rpc_error, and no verdict', async () => {
  expect((await failureOf(isOwn(alice.address, {}, { url: 'http://127.0.0.1:1' }))).code).toBe('rpc_error');
  // Where a known factory creates it, nothing has to be asked.
  expect(await isOwn(bob.address, bob, { url: 'http://127.0.0.1:1' })).toBe(true);
});
