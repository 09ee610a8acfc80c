import { afterAll, describe, expect, test } from 'bun:test';
import { type Address, Hash, type Hex } from 'ox';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { accountOf, consentFor, pkhHash, stranger, timeNow, ZERO } from '../support/registries.ts';
import { startWorlds, type World } from '../support/registry-worlds.ts';

// The gas of a relayed registration with a consent, beside that of the first registry without one, in one run.
// `docs/contracts.md` shows the numbers.

const NODES = { precompile: {}, solidity: { hardfork: 'prague' } } as const;
const registrar = devAccount('registrar');
const { worlds, stop } = await startWorlds(NODES);
afterAll(stop);

// The first consent that names a registrar writes that down, once.
for (const { rpc, registry2, factory2 } of worlds.values()) {
  const account = await accountOf(rpc, factory2, 2);
  const didHash = pkhHash(account.address);
  const consent = consentFor({ account, registry: registry2.address, didHash, expiresAt: await timeNow(rpc) });
  await registry2.act(registrar, 'registerFor', account.address, didHash, ZERO, consent);
}

/** The most gas of each; measured, and a little room. */
const BOUNDS = {
  precompile: { first: 78_000, undeployed1: 125_000, undeployed2: 125_000, deployed1: 125_000, deployed2: 125_000 },
  solidity: { first: 78_000, undeployed1: 375_000, undeployed2: 375_000, deployed1: 375_000, deployed2: 375_000 },
} as const;

describe.each(Object.entries(BOUNDS))('the gas of a relay, P-256 by %s', (node, bounds) => {
  test.each(Object.entries(bounds))('%s', async (which, bound) => {
    const { rpc, registry1, registry2, factory1, factory2 } = worlds.get(node) as World;
    const kind = which.endsWith('2') ? 2 : 1;
    const account = await accountOf(rpc, kind === 1 ? factory1 : factory2, kind);
    const gas = async (to: Address.Address, data: Hex.Hex) =>
      Number((await sendTransaction(rpc, registrar.privateKey, { to, data })).gasUsed);
    const didHash = pkhHash(account.address);
    const order = { account, registry: registry2.address, didHash, expiresAt: (await timeNow(rpc)) + 600n };
    let used: number;
    if (which === 'first') {
      used = await gas(registry1.address, registry1.encode('registerFor', account.address, didHash, ZERO, ''));
    } else {
      const isDeployed = which.startsWith('deployed');
      if (isDeployed) await account.create();
      const made = consentFor(order);
      const consent = isDeployed ? { ...made, factory: `0x${'0'.repeat(40)}`, initCode: '0x' } : made;
      used = await gas(registry2.address, registry2.encode('registerFor', account.address, didHash, ZERO, consent));
    }
    console.info(`${node} ${which}: ${used} gas`);
    expect(used).toBeLessThanOrEqual(bound);
  });
});

test('what people do themselves costs', async () => {
  const { rpc, registry1, registry2 } = worlds.get('precompile') as World;
  const alice = await stranger(rpc);
  const gas = async (registry: typeof registry1, name: string, ...args: readonly unknown[]) => {
    const data = registry.encode(name, ...args);
    return Number((await sendTransaction(rpc, alice.privateKey, { to: registry.address, data })).gasUsed);
  };
  const [did, name] = [pkhHash(alice.address), Hash.keccak256('0x01')];
  const costs = {
    'register with an alias, first registry': await gas(registry1, 'register', did, name, ''),
    'register with an alias': await gas(registry2, 'register', did, name, ''),
    deactivate: await gas(registry2, 'deactivate', did),
    register: await gas(registry2, 'register', Hash.keccak256('0x02'), ZERO, ''),
    commitAlias: await gas(registry2, 'commitAlias', Hash.keccak256('0x03')),
    claimAlias: await gas(registry2, 'claimAlias', Hash.keccak256('0x04'), ZERO),
    pointAlias: await gas(registry2, 'pointAlias', name),
  };
  for (const [what, used] of Object.entries(costs)) console.info(`${what}: ${used} gas`);
  expect(costs['register with an alias']).toBeLessThan(1.35 * costs['register with an alias, first registry']);
});
