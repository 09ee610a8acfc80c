import { afterEach, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChainOptions, startChain } from '../../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { freePort, startNear } from '../../../scripts/dev-stack/port.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { settled } from '../../support/settled.ts';
import { until } from '../../support/until.ts';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function chain(options: ChainOptions = {}) {
  const started = await startChain(options);
  ends.push(started.stop);
  return started;
}

test('two chains run side by side under their own ids, with the contracts at the same addresses', async () => {
  const chains = await Promise.all([chain(), chain({ chainId: 8453 })]);
  expect(await Promise.all(chains.map(({ rpc }) => rpc('eth_chainId')))).toEqual(['0x14a34', '0x2105']);
  const [first, second] = await Promise.all(chains.map(({ rpc }) => deployContracts(rpc)));
  expect(first).toEqual(second as typeof first);
});

test('an empty block changes no state, so that the thousandth costs the node what the first did', async () => {
  const { rpc } = await chain();
  const stateRoot = async () =>
    ((await rpc('eth_getBlockByNumber', ['latest', false])) as { stateRoot: string }).stateRoot;
  await rpc('anvil_mine', ['0x1']);
  const before = await stateRoot();
  await rpc('anvil_mine', ['0x40']);
  expect(await stateRoot()).toBe(before);
});

test('a chain with a state file goes on where it was, and a second deployment changes nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vault-chain-'));
  ends.push(() => rm(folder, { recursive: true }));
  const stateFile = join(folder, 'state.json');
  const before = await chain({ stateFile });
  const deployment = await deployContracts(before.rpc);
  const block = await before.rpc('eth_blockNumber');
  await before.stop();
  const after = await chain({ stateFile });
  expect(await after.rpc('eth_blockNumber')).toBe(block);
  expect(await deployContracts(after.rpc)).toEqual(deployment);
  expect(await after.rpc('eth_blockNumber')).toBe(block);
});

test('its first block stays the same one, however often it starts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vault-chain-'));
  ends.push(() => rm(folder, { recursive: true }));
  const stateFile = join(folder, 'state.json');
  const hashes: unknown[] = [];
  // Each start makes a first block of its own, of its own second.
  for (const startsAt of [1e12, 1.1e12, 1.2e12, 1.3e12, 1.4e12]) {
    const started = await chain({ stateFile, startsAt });
    hashes.push(((await started.rpc('eth_getBlockByNumber', ['0x0', false])) as { hash: string }).hash);
    // A node that answers may not catch the signal yet: it would end without its first state.
    await until('its state is written', () => existsSync(stateFile));
    await started.stop();
  }
  expect(new Set(hashes).size).toBe(1);
});

test('a taken port is refused, whatever answers there', async () => {
  const { url } = await chain();
  expect(await settled(startChain({ port: Number(new URL(url).port) }))).toThrow();
});

test('of two that want one port at the same moment one is refused', async () => {
  const port = freePort();
  const starts = await Promise.allSettled([chain({ port }), chain({ port })]);
  expect(starts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const near = await startNear(port, (own) => chain({ port: own }));
  expect(near.url).not.toBe(`http://127.0.0.1:${port}`);
});

test("value and calls are sent and mined, a call that would revert is the node's error", async () => {
  const { rpc } = await chain();
  const [alice, bob] = [devAccount('alice'), devAccount('bob')];
  const before = BigInt((await rpc('eth_getBalance', [bob.address, 'latest'])) as string);
  const receipt = await sendTransaction(rpc, alice.privateKey, { to: bob.address, value: 5n });
  expect(receipt).toMatchObject({ status: '0x1', type: '0x2' });
  expect(BigInt((await rpc('eth_getBalance', [bob.address, 'latest'])) as string)).toBe(before + 5n);
  const { didRegistry } = await deployContracts(rpc);
  const call = sendTransaction(rpc, alice.privateKey, { to: didRegistry, data: '0xdeadbeef' });
  expect(await settled(call)).toThrow(expect.objectContaining({ cause: expect.objectContaining({ code: 3 }) }));
});
