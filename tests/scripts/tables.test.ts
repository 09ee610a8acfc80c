import { describe, expect, test } from 'bun:test';
import { withConstants } from '../../scripts/tables.ts';

const PART = { first: 'const _first', last: 'const HALVES = split(_list);\n', names: ['HALVES', 'words'] };
const MODULE = `import { split } from "./other.js";
const _first = 1n;
const words = Array.from({ length: 2 }, (_, i) => 'w' + i);
const _list = [_first << 32n, 5n];
const HALVES = split(_list);
export const sum = () => HALVES[0][0] + HALVES[1][1] + words.join();
`;

describe('tables that a module computes when it is loaded', () => {
  test('become constants of the same values', () => {
    const text = withConstants(MODULE, PART);
    expect(text).toBe(`import { split } from "./other.js";
const HALVES = [/* @__PURE__ */ Uint32Array.from([1,0]),/* @__PURE__ */ Uint32Array.from([0,5])];
const words = ["w0","w1"];
export const sum = () => HALVES[0][0] + HALVES[1][1] + words.join();
`);
  });

  test('end the build when the module has none any more', () => {
    expect(() => withConstants(MODULE.replace('const _first', 'let _first'), PART)).toThrow('see scripts/tables.ts');
    expect(() => withConstants(MODULE.replace('split(_list)', 'both(_list)'), PART)).toThrow('see scripts/tables.ts');
  });
});
