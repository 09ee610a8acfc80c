import { afterAll, describe, expect, test } from 'bun:test';
import { type Abi, AbiError, AbiFunction, type Hex } from 'ox';
import { compileContracts } from '../../scripts/contracts.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';

// Runs contracts/test/*.t.sol on a real node: every function whose name begins with `test`, each on the state its
// contract was made with.
const { rpc, stop } = await startChain();
afterAll(stop);

const artifacts = Object.entries(await compileContracts());
const errors = artifacts.flatMap(([, { abi }]) => abi.filter((entry) => entry.type === 'error'));
const suites = artifacts.filter(([name]) => name.endsWith('Test'));

for (const [contract, { abi, bytecode }] of suites) {
  const address = await create2(rpc, bytecode);
  await rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
  describe(contract, () => {
    test.each(testsOf(abi))('%s', async (_, data) => {
      // A call changes nothing, so no test sees what another one did.
      const failure = await rpc('eth_call', [{ to: address, data, gas: GAS }, 'latest']).then(() => null, explain);
      expect(failure).toBeNull();
    });
  });
}

test('every contract of the product is tested in Solidity', () => {
  const tested = suites.filter(([, { abi }]) => testsOf(abi).length > 0).map(([name]) => name);
  expect(tested).toEqual([
    'AccountTest',
    'Account2Test',
    'AccountFactoryTest',
    'AccountFactory2Test',
    'AccountHelperTest',
    'DIDRegistryTest',
    'DIDRegistry2Test',
  ]);
});

const GAS = '0x1c9c380';

/** `test_a_batch_is_all_or_none` as its sentence and the call. */
function testsOf(abi: Abi.Abi): [string, Hex.Hex][] {
  const functions = abi.filter((entry) => entry.type === 'function' && entry.name.startsWith('test'));
  return functions.map((entry) => {
    const item = entry as AbiFunction.AbiFunction;
    return [item.name.replace(/^test_/, '').replaceAll('_', ' '), AbiFunction.getSelector(item)];
  });
}

/** What a test reverted with, in words: one of the contracts' own errors, else the node's message. */
function explain({ message, cause }: Error): string {
  const { data } = (cause ?? {}) as { data?: Hex.Hex };
  const error = errors.find((entry) => data?.startsWith(AbiError.getSelector(entry as AbiError.AbiError)));
  if (!error || !data) return message;
  // One value alone is no list.
  const values = [AbiError.decode(error as AbiError.AbiError, data, { as: 'Array' } as never) as unknown].flat();
  return `${error.name}(${values.join(', ')})`;
}
