import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleClientPart, CLIENT_PARTS } from '../../assets/client-parts.ts';
import { writeAssets } from './embed-assets.ts';

const ROOT = join(import.meta.dir, '../..');

/**
 * The vault, its client, the enclave's client and the checks of payments and approvals as modules for any Fetch
 * runtime, their dependencies left outside, with their types; and for Node, Deno and Bun what reads the files beside
 * them.
 */
export async function buildPackage(folder: string): Promise<void> {
  for (const entry of ['routes/index.ts', 'client/enclave.ts']) {
    await Bun.build({
      entrypoints: [join(ROOT, entry)],
      outdir: folder,
      target: 'browser',
      format: 'esm',
      packages: 'external',
      sourcemap: 'none',
    });
  }
  await Bun.build({
    entrypoints: [join(ROOT, NODE_MODULE)],
    outdir: folder,
    naming: 'node.js',
    target: 'node',
    format: 'esm',
  });
  for (const [part, path] of Object.entries(CLIENT_PARTS)) {
    await Bun.write(join(folder, path), await bundleClientPart(part, false));
  }
  for (const name of ['types', 'assets']) await rm(join(folder, name), { recursive: true, force: true });
  await writeAssets(join(folder, 'assets'));
  const declare = (...given: string[]) =>
    run(process.execPath, 'node_modules/typescript/bin/tsc', ...TYPES, '--outDir', join(folder, 'types'), ...given);
  await declare(...MODULES);
  // The other modules may not use Bun's types.
  await declare('--types', 'bun-types', NODE_MODULE);
  await nameModules(join(folder, 'types'));
}

/** The package's exports: `vault`, `vault/client`, `vault/enclave`, `vault/payments` and `vault/approvals`. */
const MODULES = [
  'routes/index.ts',
  'client/vault/index.ts',
  'client/enclave.ts',
  'client/payments.ts',
  'client/approvals.ts',
];
/** And `vault/node`. */
const NODE_MODULE = 'commands/package-assets.ts';

const TYPES = [
  '--ignoreConfig --declaration --emitDeclarationOnly --allowImportingTsExtensions --skipLibCheck --strict',
  '--exactOptionalPropertyTypes --target ES2023 --lib ES2023,ES2024.String,DOM,DOM.Iterable --module Preserve --moduleResolution bundler --rootDir .',
].flatMap((flags) => flags.split(' '));

/** Declarations name each other as `.js`: that is what every resolver of a consumer looks up as `.d.ts`. */
async function nameModules(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const file = Bun.file(join(folder, name));
    await Bun.write(file, (await file.text()).replace(/((?:from |import\()["']\.[^"']*)\.ts(["'])/g, '$1.js$2'));
  }
}

async function run(...command: string[]): Promise<void> {
  const { exited } = Bun.spawn(command, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if ((await exited) !== 0) throw new Error(`${command[1]} failed`);
}
