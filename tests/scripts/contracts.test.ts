import { expect, test } from 'bun:test';
import { abiModule, compileContracts } from '../../scripts/contracts.ts';

test('lib/chain/abi.ts is what the contracts say now', async () => {
  expect(await Bun.file('lib/chain/abi.ts').text()).toBe(await abiModule());
});

test('contracts for tests are compiled and are not in lib/chain/abi.ts', async () => {
  const { KeyHolder: artifact } = await compileContracts();
  expect(artifact?.bytecode).toMatch(/^0x[0-9a-f]+$/);
  expect(await abiModule()).not.toContain('keyHolder');
});
