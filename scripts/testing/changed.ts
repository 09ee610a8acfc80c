import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The files that differ from `main` in the work tree, committed or not, and the new ones. Throws if git does not
 * answer.
 */
export function changedFiles(root: string): readonly string[] {
  const base = git(root, 'merge-base', 'main', 'HEAD')[0] ?? 'main';
  return [...git(root, 'diff', '--name-only', base), ...git(root, 'ls-files', '--others', '--exclude-standard')];
}

/** The test files among `tests` that are changed, or that load a changed file, directly or not. */
export function testsOf(root: string, changed: readonly string[], tests: readonly string[]): readonly string[] {
  const importers = new Map<string, string[]>();
  for (const file of git(root, 'ls-files', '--cached', '--others', '--exclude-standard', '*.ts'))
    for (const path of importsOf(root, file)) importers.set(path, [...(importers.get(path) ?? []), file]);
  const reached = new Set(changed);
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  return tests.filter((file) => reached.has(file));
}

/** The files of the tree that a file loads itself; imports of types load nothing. */
function importsOf(root: string, file: string): readonly string[] {
  // Deleted, but not yet from git's list.
  if (!existsSync(join(root, file))) return [];
  // The scan takes no line that names an interpreter, as server.ts begins with.
  const source = readFileSync(join(root, file), 'utf8').replace(/^#!.*/, '');
  const found = new Bun.Transpiler({ loader: 'ts' }).scanImports(source);
  return found.filter(({ path }) => path.startsWith('.')).map(({ path }) => join(dirname(file), path));
}

function git(root: string, ...args: readonly string[]): readonly string[] {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['git', ...args], { cwd: root });
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.toString().split('\n').filter(Boolean);
}
