import { expect, test } from 'bun:test';
import { abiModule, compileContracts, compileWorld, creationCodeFile } from '../../scripts/contracts.ts';

test('contracts/abi.ts is what the contracts say now', async () => {
  expect(await Bun.file('contracts/abi.ts').text()).toBe(await abiModule());
});

test('those of the dev stack are compiled alone, to the same code', async () => {
  const [world, all] = [await compileWorld(), await compileContracts()];
  expect(Object.keys(world).sort()).toEqual(['DevPaymaster', 'DevUSDC']);
  for (const [name, { bytecode }] of Object.entries(world)) expect(all[name]?.bytecode).toBe(bytecode);
});

test('contracts/creation-code.json is what the contracts say now', async () => {
  expect(await Bun.file('contracts/creation-code.json').text()).toBe(await creationCodeFile());
});

test('contracts for tests and for the local world are compiled and are not in contracts/abi.ts', async () => {
  const { KeyHolder, DevUSDC } = await compileContracts();
  for (const artifact of [KeyHolder, DevUSDC]) expect(artifact?.bytecode).toMatch(/^0x[0-9a-f]+$/);
  expect(await abiModule()).not.toMatch(/keyHolder|devUSDC|Test/);
});
