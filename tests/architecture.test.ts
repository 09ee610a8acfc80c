import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const ROOT = join(import.meta.dir, '..');

/** The layers, each of which may import only itself and those to its right. */
const LAYERS = ['server.ts', 'commands', 'routes', 'lib', 'assets', 'client'];

/** What may stand at the top: the fixed files and folders, and the few beside them that `docs/decisions/` accounts for. */
const TOP_LEVEL = [
  '.ci',
  '.editorconfig',
  '.git',
  '.gitignore',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'assets',
  'biome.json',
  'bun.lock',
  'bunfig.toml',
  'client',
  'commands',
  'contracts',
  'docs',
  'examples',
  'lib',
  'package.json',
  'routes',
  'scripts',
  'server.ts',
  'tests',
  'tsconfig.json',
];

/** Made by working, never committed. */
const IGNORED = ['.world', 'dist', 'node_modules', 'vault-data'];

/** The words of `lib/`: they import nothing but each other. */
const WORDS = [
  'base/bytes',
  'base/clock',
  'base/error',
  'base/ip',
  'base/random',
  'constants',
  'events/catalogue',
  'identity/did',
  'identity/identifier',
  'identity/reserved-handles',
];

const files = ['server.ts', ...['commands', 'routes', 'lib', 'assets', 'client'].flatMap(sources)];
const imports = new Map(files.map((file) => [file, importsOf(file)]));
/** What people wrote: `lib/chain/abi.ts` comes from the contracts. */
const written = files.filter((file) => file !== 'lib/chain/abi.ts');
const portable = files.filter((file) => file.startsWith('lib/') || file.startsWith('routes/'));

describe('the house', () => {
  test('has nothing at the top but what the architecture names', () => {
    const found = readdirSync(ROOT).filter((name) => !IGNORED.includes(name));
    expect(found.filter((name) => !TOP_LEVEL.includes(name))).toEqual([]);
  });

  test('imports point from server to commands to routes to lib, never back', () => {
    const wrong = edges().filter(([from, to]) => layerOf(to) < layerOf(from));
    expect(wrong).toEqual([]);
  });

  test('words import only words', () => {
    const isWord = (file: string) => WORDS.some((word) => file === `lib/${word}.ts`);
    expect(edges().filter(([from, to]) => isWord(from) && !isWord(to))).toEqual([]);
  });

  test('nothing in lib knows a route, an asset or the process', () => {
    const wrong = files.filter((file) => /\bfrom '(?:\.\.\/)+(?:commands|assets|scripts)\//.test(read(file)));
    expect(wrong.filter((file) => portable.includes(file))).toEqual([]);
  });

  test('there is no import cycle', () => {
    expect(cycles()).toEqual([]);
  });
});

describe('lib and routes run on any Fetch runtime', () => {
  const GLOBALS =
    /\b(?:Date\.now\(|Math\.random|process\.|Bun\.|console\.(?!ts')|globalThis\.fetch\()|(?<![\w.'])fetch\(|from '(?:node|bun):|from 'bun/;
  const MAY = ['lib/base/clock.ts', 'lib/context.ts'];

  test.each(portable.filter((file) => !MAY.includes(file)))(
    '%s takes time, chance, fetch and files from env',
    (file) => {
      const used = codeOf(file)
        .split('\n')
        .filter((line) => GLOBALS.test(line) && !/^\s*(?:async )?fetch\(|readonly fetch/.test(line));
      expect(used).toEqual([]);
    },
  );
});

describe('style', () => {
  test.each(written)('%s exports no default, and every exported thing has a doc comment', (file) => {
    const lines = read(file).split('\n');
    const bare = lines.filter((line, i) => /^export (?!type \{|\{|\*)/.test(line) && !isDocumented(lines, i));
    expect(lines.filter((line) => line.startsWith('export default'))).toEqual([]);
    expect(bare).toEqual([]);
  });

  test.each(written)('%s is at most 250 lines, its functions under 70', (file) => {
    expect(read(file).split('\n').length).toBeLessThanOrEqual(251);
    expect(functionLengths(file).filter(([, length]) => length >= 70)).toEqual([]);
  });

  test('there are no classes but errors', () => {
    const classes = files.flatMap((file) => [
      ...codeOf(file).matchAll(/\bclass (\w+) extends (\w+)|\bclass (\w+) \{/g),
    ]);
    expect(
      classes.filter(([, , parent]) => parent === undefined || !parent.endsWith('Error')).map(([text]) => text),
    ).toEqual([]);
  });
});

function sources(folder: string): string[] {
  const found = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return found
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .sort();
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The text without comments: what runs. */
function codeOf(file: string): string {
  return read(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(?<![:'"`])\/\/.*$/gm, '');
}

function importsOf(file: string): string[] {
  const found = read(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g);
  return Array.from(found, ([, path = '']) => normalize(join(dirname(file), path))).filter((path) =>
    path.endsWith('.ts'),
  );
}

function edges(): [string, string][] {
  return [...imports].flatMap(([from, targets]) => targets.map((to): [string, string] => [from, to]));
}

function layerOf(file: string): number {
  const layer = LAYERS.findIndex((name) => file === name || file.startsWith(`${name}/`));
  return layer < 0 ? LAYERS.length : layer;
}

function cycles(): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) found.push([...trail.slice(trail.indexOf(file)), file].join(' → '));
    if (trail.includes(file) || done.has(file)) return;
    for (const next of valueImportsOf(file)) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return found;
}

/** Types are erased: only imports that run can make a cycle. */
function valueImportsOf(file: string): string[] {
  const types = new Set(
    Array.from(read(file).matchAll(/^import type [^;]*?from '(\.[^']+)'/gm), ([, path = '']) => path),
  );
  const values = Array.from(
    read(file).matchAll(/^(?:import(?! type)|export(?! type)) [^;]*?from '(\.[^']+)'/gm),
    ([, path = '']) => path,
  );
  const kept = values.filter((path) => !types.has(path) || read(file).split(`from '${path}'`).length > 2);
  return kept.map((path) => normalize(join(dirname(file), path))).filter((path) => path.endsWith('.ts'));
}

function isDocumented(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? '';
  // Names that stand in a row and say themselves share the comment above the first.
  if (/^export const [A-Z][A-Z0-9_]* = /.test(line) || /^export type \w+ = \(typeof /.test(line)) return true;
  if (/^export (?:type|const) \w+ = [^;]*;$/.test(line) && /^(?:export|\/\*\*)/.test(lines[index - 1] ?? ''))
    return true;
  const above = lines[index - 1]?.trim() ?? '';
  return above.endsWith('*/');
}

function functionLengths(file: string): [string, number][] {
  const lines = read(file).split('\n');
  return lines.flatMap((line, i): [string, number][] => {
    const name = /^(?:export )?(?:async )?function\*? (\w+)/.exec(line)?.[1];
    if (!name) return [];
    const end = lines.findIndex((later, j) => j > i && later.startsWith('}'));
    return [[`${relative(ROOT, join(ROOT, file))}:${name}`, end - i + 1]];
  });
}
