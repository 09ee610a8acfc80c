import { expect, test } from 'bun:test';
import { standardInput } from '../../scripts/contracts.ts';

test('from the standard JSON input alone the compiler makes contracts/creation-code.json', async () => {
  const { default: solc } = await import('solc');
  const input = await standardInput();
  // No import is answered: all sources are in it.
  const { contracts, errors = [] } = JSON.parse(solc.compile(input));
  expect(errors).toEqual([]);
  const made = (name: string) => `0x${contracts[`contracts/${name}.sol`][name].evm.bytecode.object}`;
  const codes: Record<string, string> = await Bun.file('contracts/creation-code.json').json();
  for (const [name, code] of Object.entries(codes)) expect([name, made(name)]).toEqual([name, code]);
  expect(Object.keys(JSON.parse(input).sources).filter((path) => /test|world/i.test(path))).toEqual([]);
});
