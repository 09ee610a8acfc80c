import { split } from '../node_modules/@noble/hashes/_u64.js';

/** A part of a module that computes tables when it is loaded, and the constants that it is for. */
interface Part {
  readonly module: RegExp;
  readonly first: string;
  readonly last: string;
  readonly names: readonly string[];
}

const PARTS: readonly Part[] = [
  { module: /noble[\\/]hashes[\\/]utils\.js$/, first: 'const hexes =', last: ');\n', names: ['hexes'] },
  { module: /noble[\\/]hashes[\\/]sha2\.js$/, first: 'const K512 =', last: '))();\n', names: ['K512'] },
  {
    module: /noble[\\/]hashes[\\/]sha3\.js$/,
    first: 'const _0n =',
    last: 'const IOTAS = split(_SHA3_IOTA, true);\n',
    names: ['SHA3_PI', 'SHA3_ROTL', 'IOTAS'],
  },
  {
    module: /ox[\\/]dist[\\/]core[\\/]internal[\\/]codec[\\/]hex\.js$/,
    first: 'const hexes =',
    last: '})();\n',
    names: ['hexes', 'nibbleTable'],
  },
  { module: /ox[\\/]dist[\\/]core[\\/]Rlp\.js$/, first: 'const hexes =', last: ');\n', names: ['hexes'] },
];

/**
 * Writes the tables that the hashes compute when they are loaded into the program: computing them was a tenth of its
 * start. Throws when a release of the modules has no such part any more.
 */
export const tablesAsConstants: Bun.BunPlugin = {
  name: 'write tables as constants',
  setup(build) {
    for (const part of PARTS) {
      build.onLoad({ filter: part.module }, async ({ path }) => ({
        contents: withConstants(await Bun.file(path).text(), part),
        loader: 'js',
      }));
    }
  },
};

/** The module's text with the constants in place of the part that computes them. */
export function withConstants(text: string, { first, last, names }: Omit<Part, 'module'>): string {
  const start = text.indexOf(first);
  const end = text.indexOf(last, start);
  if (start < 0 || end < 0) throw new Error(`a module has no part from "${first}" on: see scripts/tables.ts`);
  const part = text.slice(start, end + last.length);
  const values = new Function('u64', 'split', `${part}\nreturn { ${names.join(', ')} };`)({ split }, split);
  const constants = names.map((name) => `const ${name} = ${literalOf(values[name])};\n`);
  return text.slice(0, start) + constants.join('') + text.slice(end + last.length);
}

function literalOf(value: unknown): string {
  if (value instanceof Uint32Array || value instanceof Uint8Array)
    return `/* @__PURE__ */ ${value.constructor.name}.from([${value.join()}])`;
  if (Array.isArray(value)) return `[${value.map(literalOf).join()}]`;
  return JSON.stringify(value);
}
