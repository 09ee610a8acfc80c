import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { KNOWN_ACCOUNTS, KNOWN_ENTRY_POINTS } from '../../client/known-accounts.ts';
import creationCode from '../../contracts/creation-code.json' with { type: 'json' };
import { planDeployment } from '../../lib/chain/deployment.ts';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { isDeployed } from '../../scripts/dev-stack/create2.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';

const owner = devAccount('owner');

let chain: Chain;
beforeAll(async () => {
  chain = await startChain();
  await deployEntryPoints(chain.rpc, ['0.7', '0.8', '0.9']);
});
afterAll(() => chain.stop());

test('the known EntryPoints are those of the public networks', () => {
  expect<readonly string[]>(KNOWN_ENTRY_POINTS).toEqual([
    ENTRY_POINTS['0.7'],
    ENTRY_POINTS['0.8'],
    ENTRY_POINTS['0.9'],
  ]);
});

describe.each(KNOWN_ENTRY_POINTS)('the accounts of the EntryPoint %s', (entryPoint) => {
  const [, first, , second] = planDeployment(creationCode, { entryPoint, owner: owner.address });

  test.each([
    [1, first],
    [2, second],
  ] as const)(
    'of the kind %d have the factory that is deployed, and the implementation that it names',
    async (kind, plan) => {
      const found = KNOWN_ACCOUNTS.filter((one) => one.entryPoint === entryPoint && one.kind === kind);
      expect(found.map(({ factory }) => factory)).toEqual([plan.address]);
      if (!(await isDeployed(chain.rpc, plan.address))) await sendTransaction(chain.rpc, owner.privateKey, plan.call);
      const named = await chain.rpc('eth_call', [{ to: plan.address, data: '0x5c60da1b' }, 'latest']);
      expect(String(named).slice(26)).toBe(found[0]?.implementation.slice(2).toLowerCase() ?? '');
    },
  );
});
