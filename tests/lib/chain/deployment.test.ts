import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import creationCode from '../../../contracts/creation-code.json' with { type: 'json' };
import { create2, DEPLOYMENT_PROXY, ENTRY_POINT_V07, planDeployment } from '../../../lib/chain/deployment.ts';
import { CHAINS } from '../../../lib/config/chain-settings.ts';
import { SETTING_NAMES } from '../../../lib/config/config.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { isDeployed } from '../../../scripts/dev-stack/create2.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';

const owner = devAccount('owner').address;
const registrar = devAccount('registrar').address;
const parties = { entryPoint: ENTRY_POINT_V07, owner, registrar } as const;

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

  test('follows from the parties: another registrar is another registry and helper, another EntryPoint other factories', () => {
    const addresses = (change: object) =>
      planDeployment(creationCode, { ...parties, ...change }).map(({ address }) => address);
    const [registry, factory, helper, factory2] = addresses({});
    const factories = [factory as never, expect.any(String), factory2 as never];
    expect(addresses({ registrar: undefined })).toEqual([expect.any(String), ...factories]);
    expect(addresses({ registrar: undefined })).not.toContain(registry as never);
    const others = addresses({ entryPoint: owner });
    expect(others).toEqual([registry as never, expect.any(String), helper as never, expect.any(String)]);
    for (const one of [factory, factory2]) expect(others).not.toContain(one as never);
  });

  test('has the EntryPoint that the vault has by default', () => {
    expect(CHAINS[84532]?.['ENTRY_POINT_ADDRESS']).toBe(ENTRY_POINT_V07);
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
