import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { KNOWN_ENTRY_POINTS } from '../../../client/known-accounts.ts';
import creationCode from '../../../contracts/creation-code.json' with { type: 'json' };
import { create2, DEPLOYMENT_PROXY, planDeployment } from '../../../lib/chain/deployment.ts';
import { CHAINS } from '../../../lib/config/chain-settings.ts';
import { SETTING_NAMES } from '../../../lib/config/config.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { isDeployed } from '../../../scripts/dev-stack/create2.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';

const owner = devAccount('owner').address;
const registrar = devAccount('registrar').address;
const parties = { entryPoint: KNOWN_ENTRY_POINTS[0], owner, registrar } as const;

let chain: Chain;
beforeAll(async () => {
  chain = await startChain();
});
afterAll(() => chain.stop());

describe('the plan of a deployment', () => {
  test('is where the chain then has the contracts, whoever sends the transactions', async () => {
    for (const { address, call } of planDeployment(creationCode, parties)) {
      expect(await isDeployed(chain.rpc, address)).toBe(false);
      await sendTransaction(chain.rpc, devAccount('bob').privateKey, call);
      expect(await isDeployed(chain.rpc, address)).toBe(true);
    }
  });

  test('names a setting of the vault for each', () => {
    const settings = planDeployment(creationCode, parties).map(({ setting }) => setting);
    expect(SETTING_NAMES).toEqual(expect.arrayContaining(settings));
    expect(settings).toEqual([
      'DID_REGISTRY_ADDRESS',
      'HYPERAUTH_FACTORY_ADDRESS',
      'ACCOUNT_HELPER_ADDRESS',
      'ACCOUNT_FACTORY_2_ADDRESS',
    ]);
  });

  const addresses = (change: object) =>
    planDeployment(creationCode, { ...parties, ...change }).map(({ address }) => address as string);

  test('follows from the parties: another registrar is another registry and helper, nothing else', () => {
    const [registry, factory, helper, factory2] = addresses({});
    const others = addresses({ registrar: undefined });
    expect(others).toEqual([expect.any(String), factory, expect.any(String), factory2] as string[]);
    for (const one of [registry, helper]) expect(others).not.toContain(one as string);
    expect(addresses({ legacyRegistry: owner })).toEqual([
      expect.any(String),
      factory,
      expect.any(String),
      factory2,
    ] as string[]);
    expect(addresses({ legacyRegistry: owner })).not.toContain(registry as string);
  });

  test('another EntryPoint is other factories, and of the second registry, which knows one, another registry', () => {
    for (const edition of [1, 2] as const) {
      const before = addresses({ registry: edition });
      const after = addresses({ registry: edition, entryPoint: owner });
      expect(after.map((one, i) => one === before[i])).toEqual(
        edition === 1 ? [true, false, true, false] : [false, false, false, false],
      );
    }
  });

  test('is of the second registry unless the first one is asked for', () => {
    const names = (change: object) => planDeployment(creationCode, { ...parties, ...change }).map(({ name }) => name);
    expect(names({})[0]).toBe('DIDRegistry2');
    expect(names({ registry: 1 })[0]).toBe('DIDRegistry');
    expect(names({}).slice(1)).toEqual(names({ registry: 1 }).slice(1));
  });

  test('has the EntryPoint that the vault has by default', () => {
    expect(CHAINS[84532]?.['ENTRY_POINT_ADDRESS']).toBe(KNOWN_ENTRY_POINTS[0]);
  });
});

describe('a CREATE2 address', () => {
  // EIP-1014's examples are of other deployers; EntryPoint 0.6 is where everybody knows it to be.
  test('is the one that the deployment proxy gives', async () => {
    const { bytecode } = await import('aa06/artifacts/EntryPoint.json');
    const { address, call } = create2(bytecode as `0x${string}`);
    expect(address).toBe('0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789');
    expect(call).toEqual({ to: DEPLOYMENT_PROXY, data: `0x${'0'.repeat(64)}${bytecode.slice(2)}` });
  });
});
