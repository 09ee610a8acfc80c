import { describe, expect, test } from 'bun:test';
import { Hash, Hex } from 'ox';
import { compileContracts, standardInput } from '../../scripts/contracts.ts';
import { compileOnce } from '../support/compiled.ts';
import { isLong } from '../support/long.ts';

const codes: Record<string, `0x${string}`> = await Bun.file('contracts/creation-code.json').json();
const text = await standardInput();
const input: {
  readonly language: string;
  readonly sources: Record<string, { readonly content: string }>;
  readonly settings: Record<string, unknown>;
} = JSON.parse(text);

// To compile it takes ten seconds, so the usual form asks the compiler what it made the same code from.
describe('from the standard JSON input alone the compiler makes contracts/creation-code.json', async () => {
  const artifacts = await compileContracts();
  const all = Object.entries(codes).map(([name, code]) => {
    const { bytecode, metadata = '{}' } = artifacts[name] ?? {};
    return { name, code, bytecode, made: JSON.parse(metadata) };
  });

  test.each(all)('$name: each source and setting is in it', ({ name, code, bytecode, made }) => {
    expect(bytecode).toBe(code);
    expect(made.language).toBe(input.language);
    const { compilationTarget, remappings, libraries, ...settings } = made.settings;
    expect([compilationTarget, remappings, libraries]).toEqual([{ [`contracts/${name}.sol`]: name }, [], {}]);
    const { outputSelection: _, ...given } = input.settings;
    expect(settings).toEqual(given);
    expect(Object.keys(made.sources).length).toBeGreaterThan(0);
    for (const [path, { keccak256 }] of Object.entries<{ keccak256: string }>(made.sources)) {
      const content = input.sources[path]?.content;
      expect([path, content && Hash.keccak256(Hex.fromString(content))]).toEqual([path, keccak256 as `0x${string}`]);
    }
  });

  test('no other source is in it', () => {
    const used = new Set(all.flatMap(({ made }) => Object.keys(made.sources)));
    expect(Object.keys(input.sources).filter((path) => !used.has(path))).toEqual([]);
    expect(Object.keys(input.sources).filter((path) => /test|world/i.test(path))).toEqual([]);
  });

  if (isLong)
    test('compiled', async () => {
      // No import is answered: all sources are in it.
      const { codes: made, warnings } = await compileOnce(text);
      expect(warnings).toEqual([]);
      for (const [name, code] of Object.entries(codes))
        expect([name, made[`contracts/${name}.sol:${name}`]]).toEqual([name, code]);
    });
});
