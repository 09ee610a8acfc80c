import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

/** The TypeScript files below a folder, by their paths from the root, in order. */
export function sources(folder: string): string[] {
  const found = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return found
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .sort();
}

/** The text of a file, by its path from the root. */
export function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The text without comments: what runs. */
export function codeOf(file: string): string {
  return read(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(?<![:'"`])\/\/.*$/gm, '');
}

/** The files of ours that a file imports or exports from, types and `import()` counted. */
export function importsOf(file: string): string[] {
  const found = codeOf(file).matchAll(/(?:\bfrom|\bimport\(|\bimport)\s*['"](\.[^'"]+)['"]/g);
  return Array.from(found, ([, path = '']) => normalize(join(dirname(file), path))).filter((path) =>
    path.endsWith('.ts'),
  );
}
