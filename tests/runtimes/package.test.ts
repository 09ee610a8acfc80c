import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json';
import { packageOfRun } from '../support/package.ts';

const ROOT = join(import.meta.dir, '../..');

/** The package of a specifier, undefined of a path and of what every runtime has. */
const packageOf = (specifier: string) => /^(?!node:)(?:@[^/]+\/)?[^./@][^/]*/.exec(specifier)?.[0];

async function packagesIn(file: string): Promise<string[]> {
  const imports = new Bun.Transpiler({ loader: 'js' }).scanImports(await Bun.file(file).text());
  return imports.flatMap(({ path }) => packageOf(path) ?? []);
}

/** Those that a declaration names: its imports are types, which a scan of code leaves out. */
async function packagesInTypes(file: string): Promise<string[]> {
  const named = (await Bun.file(file).text()).matchAll(/\b(?:from |import\()["']([^"']+)["']/g);
  return Array.from(named).flatMap(([, path = '']) => packageOf(path) ?? []);
}

test('the package depends on what its entries import, and on nothing else', async () => {
  const dist = await packageOfRun();
  const entries = [
    'index.js',
    'node.js',
    'client.js',
    'client-sign-in.js',
    'client-credential.js',
    'client-authorization.js',
    'client-events.js',
    'client-operation.js',
    'enclave.js',
    'payments.js',
    'approvals.js',
  ].map((name) => join(dist, name));
  const imported = new Set((await Promise.all(entries.map(packagesIn))).flat());
  expect(Object.keys(manifest.dependencies)).toEqual([...imported].sort());

  // What clients use brings nothing.
  for (const entry of entries.slice(1)) expect(await packagesIn(entry)).toEqual([]);

  const types = readdirSync(join(dist, 'types'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.d.ts'),
  );
  expect(types.length).toBeGreaterThan(0);
  const named = await Promise.all(types.map((name) => packagesInTypes(join(dist, 'types', name))));
  expect(named.flat().filter((name) => !imported.has(name))).toEqual([]);

  // These too would be installed with it, or asked of those who install it.
  expect(Object.keys(manifest)).not.toContainAnyValues([
    'optionalDependencies',
    'peerDependencies',
    'bundleDependencies',
  ]);
});

test('docs/embedding.md says how to install what each example imports besides', async () => {
  const text = await Bun.file(join(ROOT, 'docs/embedding.md')).text();
  const loader = new Bun.Transpiler({ loader: 'ts' });
  for (const name of readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.ts'))) {
    const imports = loader.scanImports(await Bun.file(join(ROOT, 'examples', name)).text());
    const besides = imports.flatMap(({ path }) => packageOf(path) ?? []).filter((path) => path !== 'vault');
    const row = text.split('\n').find((line) => line.includes(`](../examples/${name})`)) ?? '';
    expect(besides.length).toBeGreaterThan(0);
    for (const needed of new Set(besides)) expect(row).toContain(`\`${needed}\``);
  }
});
