import { expect, test } from 'bun:test';
import { standardInput } from '../../scripts/contracts.ts';
import { compileOnce } from '../support/compiled.ts';

test('from the standard JSON input alone the compiler makes contracts/creation-code.json', async () => {
  const input = await standardInput();
  // No import is answered: all sources are in it.
  const { codes: made, warnings } = await compileOnce(input);
  expect(warnings).toEqual([]);
  const codes: Record<string, string> = await Bun.file('contracts/creation-code.json').json();
  for (const [name, code] of Object.entries(codes))
    expect([name, made[`contracts/${name}.sol:${name}`]]).toEqual([name, code as `0x${string}`]);
  expect(Object.keys(JSON.parse(input).sources).filter((path) => /test|world/i.test(path))).toEqual([]);
});
