import { afterAll, beforeAll, expect, test } from 'bun:test';
import { AbiFunction, Hex } from 'ox';
import { didRegistryAbi } from '../../../contracts/abi.ts';
import type { AccountKind } from '../../../lib/chain/account.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { isAlive } from '../../../scripts/alive.ts';
import { passkeySigner, signUntil } from '../../../scripts/dev-stack/account2.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import * as wallet from '../../../scripts/dev-stack/user-operation.ts';
import { type SponsoredBundler, startSponsoredBundler } from '../../support/bundler.ts';
import { settled } from '../../support/settled.ts';

let chain: Chain;
let contracts: Deployment;
let sponsored: SponsoredBundler;
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc);
  sponsored = await startSponsoredBundler(chain);
});
afterAll(async () => {
  await sponsored.stop();
  await chain.stop();
});

const openAccount = (kind: AccountKind = 1) => wallet.openAccount(chain.rpc, contracts, createPasskey(), 0n, kind);

async function controllerToDid(account: Hex.Hex): Promise<unknown> {
  const data = AbiFunction.encodeData(AbiFunction.fromAbi(didRegistryAbi, 'controllerToDid'), [account]);
  return chain.rpc('eth_call', [{ to: contracts.didRegistry, data }, 'latest']);
}

test.each([1, 2] as const)(
  'a passkey without any ether gets an account of kind %d and registers a DID, and goes on in a second operation',
  async (kind) => {
    const account = await openAccount(kind);
    const hash = didHash(`did:example:${account.address}`);
    const register = AbiFunction.fromAbi(didRegistryAbi, 'register');
    const data = AbiFunction.encodeData(register, [hash, Hex.padLeft('0x', 32), '']);
    const first = await wallet.runSponsored(chain.rpc, sponsored.rpc, account, [
      { target: contracts.didRegistry, data },
    ]);
    expect(first.success).toBe(true);
    expect(await controllerToDid(account.address)).toBe(hash);
    const update = AbiFunction.encodeData(AbiFunction.fromAbi(didRegistryAbi, 'update'), [hash, 'cid']);
    const second = await wallet.runSponsored(chain.rpc, sponsored.rpc, account, [
      { target: contracts.didRegistry, data: update },
      { target: contracts.didRegistry, data: update },
    ]);
    expect(second.success).toBe(true);
    expect(await chain.rpc('eth_getBalance', [account.address, 'latest'])).toBe('0x0');
  },
);

test("the paymaster also speaks ERC-7677's two methods, and takes back its word on an operation that was changed", async () => {
  const account = await openAccount();
  const { entryPoint } = account;
  const chainId = await chain.rpc('eth_chainId');
  const draft = await wallet.sponsorOperation(
    sponsored.rpc,
    account,
    await wallet.prepareOperation(chain.rpc, account, [{ target: account.address }]),
  );
  const params = (operation: wallet.Operation) => [wallet.toRpc(operation), entryPoint, chainId, {}];
  const stub = await sponsored.rpc('pm_getPaymasterStubData', params(draft));
  expect(stub).toMatchObject({ paymaster: sponsored.paymaster.addresses[entryPoint], isFinal: false });
  const final = (await sponsored.rpc('pm_getPaymasterData', params(draft))) as { paymasterData: Hex.Hex };
  const operation = await wallet.signOperation(chain.rpc, account, { ...draft, ...final });
  const changed = { ...operation, callGasLimit: operation.callGasLimit + 1n };
  const signed = await wallet.signOperation(chain.rpc, account, changed);
  expect(await settled(wallet.sendOperation(sponsored.rpc, account, signed))).toThrow('AA34');
  expect((await wallet.sendOperation(sponsored.rpc, account, operation)).success).toBe(true);
});

test('an operation of the second kind whose end has passed is refused', async () => {
  const account = await openAccount(2);
  const prepared = await wallet.prepareOperation(chain.rpc, account, [{ target: account.address }]);
  const operation = await wallet.sponsorOperation(sponsored.rpc, account, prepared);
  const second = Math.floor(Date.now() / 1000);
  const late = await signUntil(chain.rpc, account, operation, passkeySigner(account.passkey), second - 60);
  expect(await settled(wallet.sendOperation(sponsored.rpc, account, late))).toThrow(/AA22|expires/);
  const signed = await wallet.signOperation(chain.rpc, account, operation);
  expect((await wallet.sendOperation(sponsored.rpc, account, signed)).success).toBe(true);
});

test('another EntryPoint or chain is not sponsored', async () => {
  const operation = wallet.toRpc(await wallet.prepareOperation(chain.rpc, await openAccount(), []));
  for (const params of [
    [operation, '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789', '0x14a34', {}],
    [operation, contracts.entryPoint, '0x1', {}],
  ]) {
    expect(await settled(sponsored.rpc('pm_getPaymasterData', params))).toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ code: -32602 }) }),
    );
  }
});

test('what is no method of the paymaster is answered by the bundler, its errors included', async () => {
  expect(await sponsored.rpc('eth_supportedEntryPoints')).toContain(contracts.entryPoint);
  expect(await settled(sponsored.rpc('debug_bundler_dumpMempool'))).toThrow();
  const account = await openAccount();
  const unsponsored = await wallet.prepareOperation(chain.rpc, account, [{ target: account.address }]);
  expect(await settled(wallet.sponsorOperation(sponsored.rpc, account, { ...unsponsored, nonce: 5n }))).toThrow('AA25');
});

test('both listen on 127.0.0.1 only', async () => {
  for (const url of [sponsored.url, sponsored.bundler.url]) {
    // Whoever listens on all addresses is reached at any of this machine's.
    expect(await settled(fetch(url.replace('127.0.0.1', '127.0.0.2')))).toThrow();
  }
});

test('the bundler ends with whatever started it, however that ended', async () => {
  const script = `
    const { startBundler } = await import(${JSON.stringify(Bun.resolveSync('../../../scripts/dev-stack/bundler.ts', import.meta.dir))});
    console.log((await startBundler({ rpcUrl: ${JSON.stringify(chain.url)} })).pid);
    process.kill(process.pid, 'SIGKILL');`;
  const starter = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' });
  const pid = Number(await new Response(starter.stdout).text());
  expect(pid).toBeGreaterThan(0);
  await starter.exited;
  while (isAlive(pid)) await Bun.sleep(10);
});
